#pragma once

#include <atomic>
#include <exception>

namespace headwave {

/// Thrown by stop_if_asked(). No Error: nothing is wrong, somebody does not want to wait any longer.
class Stopped : public std::exception {
 public:
  [[nodiscard]] const char* what() const noexcept override { return "stopped, as was asked"; }
};

/// While it lives, what its thread computes can be stopped, and with it what parallel_for() spreads over others: a flag
/// that somebody else sets is looked at now and then. Those that live inside one another give back what was before.
class Stoppable {
 public:
  /// @param asked  set once somebody wants it to end; outlives this. Null: nobody ever asks
  explicit Stoppable(const std::atomic<bool>* asked);
  Stoppable(const Stoppable&) = delete;
  Stoppable& operator=(const Stoppable&) = delete;
  ~Stoppable();

  /// The flag that this thread looks at; null: there is none.
  static const std::atomic<bool>* flag();

 private:
  const std::atomic<bool>* before_;
};

/// A place where a computation may end early: between the indices of parallel_for() and the tiles of attention, a few
/// milliseconds apart.
/// @throws Stopped if that was asked for
void stop_if_asked();

}  // namespace headwave
