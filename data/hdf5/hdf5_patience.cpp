#include "hdf5_patience.h"

#include <algorithm>
#include <cstdint>
#include <ctime>

#include <sys/time.h>
#include <unistd.h>

namespace headwave {

namespace {

constexpr double for_an_answer = 0.02, bytes_in_a_second = 1e8;

/// Seconds of processor time of this process.
double used() {
  timespec time{};
  (void)::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace

Hdf5Patience* Hdf5Patience::limiting = nullptr;

void Hdf5Patience::limit() const {
  const double seconds = std::max(0.001, left_ + granted_ - (used() - began_));
  const auto microseconds = static_cast<std::int64_t>(seconds * 1e6);
  const itimerval processor{{}, {microseconds / 1'000'000, microseconds % 1'000'000}};
  (void)::setitimer(ITIMER_PROF, &processor, nullptr);
  ::alarm(static_cast<unsigned>(hdf5_slowness * std::clamp(seconds, 1.0, 1e8)) +
          2);  // the parent's patience ends before
}

void Hdf5Patience::begin() {
  began_ = used();
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
  left_ = std::max(0.0, left_ - std::max(0.0, used() - began_ - granted_));
  const itimerval never{};
  (void)::setitimer(ITIMER_PROF, &never, nullptr);
  ::alarm(0);
}

}  // namespace headwave
