#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>

#include "../../core/numbers/matrix.h"
#include "../../core/process/joined_thread.h"

namespace headwave {

/// Measures the resident memory of this process every few milliseconds while the object lives, and keeps the
/// largest value. It also sets a flag before memory exceeds a limit. The flag is set if memory would exceed
/// the limit at the next measurement, growing as fast as between the last two. Before setting the flag, the
/// object gives freed memory back to the system and measures again.
class MemoryWatch {
 public:
  /// @param limit  bytes; 0: no limit
  explicit MemoryWatch(std::int64_t limit = 0);
  MemoryWatch(const MemoryWatch&) = delete;
  MemoryWatch& operator=(const MemoryWatch&) = delete;
  ~MemoryWatch();

  /// The flag, which is set once memory comes to the limit; Stoppable takes it.
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

/// Decides how many documents go through a model side by side, from the memory that earlier documents took.
///
///     next = (limit - resident) / largest,  between 1 and `most`                   (1)
///
/// `resident` is the memory of this process now, and `largest` is the largest growth of memory per document
/// so far. For the first documents, and for documents longer than all before them, (1) is a guess. A
/// MemoryWatch stops the work if (1) was too large.
class SideBySide {
 public:
  /// @param limit  bytes of resident memory; 0: no limit, so always `most` documents
  /// @param first  number of documents to take side by side before memory was measured
  /// @param most   largest number of documents side by side
  SideBySide(std::int64_t limit, Index first, Index most);

  [[nodiscard]] bool is_limited() const { return limit_ > 0; }
  /// The number of documents to take side by side now.
  [[nodiscard]] Index next() const { return next_; }
  /// Does some work that takes `documents` side by side, and measures the memory that they need.
  void measured(Index documents, const std::function<void()>& work);

 private:
  std::int64_t limit_, largest_ = 0;
  Index next_, most_;
};

/// The default limit of resident memory, in bytes: the present memory of this process and 70 % of the free
/// memory.
std::int64_t usual_memory_limit();

}  // namespace headwave
