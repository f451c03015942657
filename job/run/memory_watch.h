#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

namespace headwave {

/// Measures the resident memory of this process every few milliseconds while it lives, and notices when there is more than
/// a limit, also after what was freed was given back to the system: what a job is expected to take (job_memory.h) is only
/// expected.
class MemoryWatch {
 public:
  /// @param limit  bytes
  explicit MemoryWatch(std::int64_t limit);

  /// Set once there was more: for Stoppable.
  [[nodiscard]] const std::atomic<bool>& is_exceeded() const { return is_exceeded_; }
  /// Bytes that there were when it was set.
  [[nodiscard]] std::int64_t measured() const { return measured_; }

 private:
  void watch(const std::stop_token& stop);

  std::int64_t limit_;
  std::atomic<bool> is_exceeded_{false};
  std::atomic<std::int64_t> measured_{0};
  std::mutex mutex_;
  std::condition_variable_any woken_;
  std::jthread watcher_;  // the last member: it ends before what it reads
};

}  // namespace headwave
