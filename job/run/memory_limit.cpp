#include "memory_limit.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "../../core/process/process_memory.h"

namespace headwave {

MemoryWatch::MemoryWatch(std::int64_t limit) : limit_(limit), most_(resident_bytes()), watcher_([this] { watch(); }) {}

MemoryWatch::~MemoryWatch() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  woken_.notify_one();
}

std::int64_t MemoryWatch::most() {
  const std::lock_guard lock(mutex_);
  const std::int64_t now = resident_bytes();
  return std::max(now, std::exchange(most_, now));
}

void MemoryWatch::watch() {
  using std::chrono::milliseconds;
  constexpr milliseconds between(3), after_giving_back(10);  // giving back takes a while
  milliseconds pause = between;
  std::int64_t before = resident_bytes();
  std::unique_lock lock(mutex_);
  while (!ends_) {
    woken_.wait_for(lock, pause, [this] { return ends_; });
    pause = between;
    std::int64_t now = resident_bytes();
    most_ = std::max(most_, now);
    const std::int64_t grown = std::max<std::int64_t>(0, now - before);
    before = now;
    if (limit_ == 0 || now + grown <= limit_) continue;
    give_back_freed_memory();
    now = before = resident_bytes();
    pause = after_giving_back;
    if (now + grown <= limit_) continue;
    is_exceeded_ = true;
    return;
  }
}

SideBySide::SideBySide(std::int64_t limit, Index first, Index most)
    : limit_(limit), next_(limit > 0 ? std::min(first, most) : most), most_(most) {}

void SideBySide::measured(Index documents, const std::function<void()>& work) {
  if (limit_ == 0) return work();
  const std::int64_t before = resident_bytes();
  MemoryWatch memory;
  work();
  largest_ = std::max(largest_, (memory.most() - before) / documents);
  give_back_freed_memory();
  const std::int64_t room = std::max<std::int64_t>(0, limit_ - resident_bytes());
  next_ = largest_ > 0 ? std::clamp<Index>(room / largest_, 1, most_) : most_;
}

std::int64_t usual_memory_limit() {
  constexpr double share = 0.7;  // leaves some to other programs
  return resident_bytes() + static_cast<std::int64_t>(share * static_cast<double>(free_memory()));
}

}  // namespace headwave
