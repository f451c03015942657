#pragma once

#include <atomic>
#include <exception>

namespace headwave {

/// Thrown by stop_if_asked() when the user cancels. Not an Error: nothing went wrong.
class Stopped : public std::exception {
 public:
  [[nodiscard]] const char* what() const noexcept override { return "stopped, as was asked"; }
};

/// Makes the work of this thread cancellable for a scope, parallel_for() included: a flag set elsewhere is checked now and
/// then. Scopes nest: the end of an inner one restores the outer flag.
class Stoppable {
 public:
  /// @param asked  set by whoever cancels; must outlive this object. Null: never cancelled
  explicit Stoppable(const std::atomic<bool>* asked);
  Stoppable(const Stoppable&) = delete;
  Stoppable& operator=(const Stoppable&) = delete;
  ~Stoppable();

  /// The flag that this thread checks, or null.
  static const std::atomic<bool>* flag();

 private:
  const std::atomic<bool>* before_;
};

/// Ends the computation here if it was cancelled. Called between indices of parallel_for() and tiles of attention, a few
/// milliseconds apart.
/// @throws Stopped if the flag is set
void stop_if_asked();

}  // namespace headwave
