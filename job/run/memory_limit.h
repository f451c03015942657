#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>

#include "../../core/numbers/matrix.h"
#include "../../core/process/joined_thread.h"

namespace headwave {

/// Measures the resident memory of this process every few milliseconds while it lives, and keeps the largest
/// value. It raises a flag before a limit is exceeded: when memory, growing as fast as between the last two
/// measurements, would exceed it at the next one. Before that, it gives freed memory back to the system.
class MemoryWatch {
 public:
  /// @param limit  bytes; 0: none
  explicit MemoryWatch(std::int64_t limit = 0);
  MemoryWatch(const MemoryWatch&) = delete;
  MemoryWatch& operator=(const MemoryWatch&) = delete;
  ~MemoryWatch();

  /// Set once memory comes to the limit; for Stoppable.
  [[nodiscard]] const std::atomic<bool>& is_exceeded() const { return is_exceeded_; }
  /// Peak memory in bytes since the last call, or since the beginning for the first call.
  std::int64_t most();

 private:
  void watch();

  std::int64_t limit_;
  std::atomic<bool> is_exceeded_{false};
  std::mutex mutex_;
  std::int64_t most_;
  bool ends_ = false;
  std::condition_variable woken_;
  JoinedThread watcher_;  // the last member: it ends before the members that it reads
};

/// Decides how many documents go through a model side by side, from the memory that earlier ones took.
///
///     next = (limit - resident) / largest,  between 1 and `most`                   (1)
///
/// `resident` is the memory of this process now, and `largest` the most by which it grew for one document so
/// far. The first documents are a guess, and so are documents longer than all before them. A MemoryWatch
/// stops what (1) does not foresee.
class SideBySide {
 public:
  /// @param limit  bytes of resident memory; 0: none, always `most` documents
  SideBySide(std::int64_t limit, Index first, Index most);

  [[nodiscard]] bool is_limited() const { return limit_ > 0; }
  /// The number of documents to take side by side now.
  [[nodiscard]] Index next() const { return next_; }
  /// Does some work with `documents` side by side, and measures the memory that they take.
  void measured(Index documents, const std::function<void()>& work);

 private:
  std::int64_t limit_, largest_ = 0;
  Index next_, most_;
};

/// Resident memory in bytes that this process may have if no limit is given: what it has now and most of the
/// free memory.
std::int64_t usual_memory_limit();

}  // namespace headwave
