#include "memory_watch.h"

#include <chrono>

#include "../../core/process/process_memory.h"

namespace headwave {

MemoryWatch::MemoryWatch(std::int64_t limit)
    : limit_(limit), watcher_([this](const std::stop_token& stop) { watch(stop); }) {}

void MemoryWatch::watch(const std::stop_token& stop) {
  using std::chrono::milliseconds;
  constexpr milliseconds between(3), after_giving_back(50);  // which takes a while
  milliseconds pause = between;
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    woken_.wait_for(lock, stop, pause, [] { return false; });
    pause = between;
    if (resident_bytes() <= limit_) continue;
    give_back_freed_memory();
    pause = after_giving_back;
    const std::int64_t resident = resident_bytes();
    if (resident <= limit_) continue;
    measured_ = resident;
    is_exceeded_ = true;
    return;
  }
}

}  // namespace headwave
