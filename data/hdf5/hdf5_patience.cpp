#include "hdf5_patience.h"

#include <algorithm>
#include <cstdint>
#include <ctime>

#include <sys/time.h>

namespace headwave {

namespace {

constexpr double for_an_answer = 0.02, bytes_in_a_second = 1e8;

double seconds_of(clockid_t clock) {
  timespec time{};
  (void)::clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// Of this process until now, and of the clock.
Hdf5Seconds now() {
  return {seconds_of(CLOCK_PROCESS_CPUTIME_ID), seconds_of(CLOCK_MONOTONIC)};
}

/// @param seconds  0: never
void signal_after(decltype(ITIMER_REAL) timer, double seconds) {
  const auto microseconds = static_cast<std::int64_t>(1e6 * std::min(seconds, 1e8));
  const itimerval once{{}, {microseconds / 1'000'000, microseconds % 1'000'000}};
  (void)::setitimer(timer, &once, nullptr);
}

}  // namespace

Hdf5Patience* Hdf5Patience::limiting = nullptr;

Hdf5Seconds Hdf5Patience::left() const {
  const auto [processor, clock] = now();
  return {left_.processor + granted_ - (processor - began_.processor),
          left_.clock + hdf5_slowness * granted_ - (clock - began_.clock)};
}

void Hdf5Patience::limit() const {
  signal_after(ITIMER_PROF, std::max(0.001, left().processor));
  signal_after(ITIMER_REAL, std::max(0.001, left().clock));
}

void Hdf5Patience::begin() {
  began_ = now();
  granted_ = for_an_answer;
  limiting = this;
  limit();
}

void Hdf5Patience::grant(std::size_t bytes) {
  granted_ += static_cast<double>(bytes) / bytes_in_a_second;
  limit();
}

void Hdf5Patience::unpacked(std::size_t bytes) {
  constexpr std::size_t times = 2;
  if (limiting != nullptr) limiting->grant(times * bytes);
}

void Hdf5Patience::end() {
  limiting = nullptr;
  // What an answer was granted and did not take is not kept for the next.
  const auto [processor, clock] = left();
  left_ = {std::clamp(processor, 0.0, left_.processor), std::clamp(clock, 0.0, left_.clock)};
  signal_after(ITIMER_PROF, 0);
  signal_after(ITIMER_REAL, 0);
}

}  // namespace headwave
