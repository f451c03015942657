#pragma once

#include <thread>
#include <utility>

namespace headwave {

/// A thread that the destructor waits for (std::jthread, which libc++ lacks). Callers who want the thread to
/// end earlier must signal this to its function.
class JoinedThread {
 public:
  JoinedThread() = default;
  /// Calls a function in a new thread.
  /// @throws std::system_error if the system cannot start a thread
  template <class Function>
  explicit JoinedThread(Function function) : thread_(std::move(function)) {}
  JoinedThread(JoinedThread&&) noexcept = default;
  JoinedThread& operator=(JoinedThread&& other) noexcept {
    join();
    thread_ = std::move(other.thread_);
    return *this;
  }
  JoinedThread(const JoinedThread&) = delete;
  JoinedThread& operator=(const JoinedThread&) = delete;
  ~JoinedThread() { join(); }

  /// Whether there is a thread that join() has not waited for.
  [[nodiscard]] bool joinable() const { return thread_.joinable(); }
  /// Waits until the function returns; does nothing if there is no thread.
  void join() {
    if (thread_.joinable()) thread_.join();
  }

 private:
  std::thread thread_;
};

}  // namespace headwave
