#pragma once

#include <atomic>
#include <exception>
#include <functional>

#include "../numbers/matrix.h"

namespace headwave {

/// Thrown by stop_if_asked() when the user cancels. Not an Error: nothing went wrong.
class Stopped : public std::exception {
 public:
  [[nodiscard]] const char* what() const noexcept override { return "interrupted"; }
};

/// Makes the work of this thread, including its parallel_for(), cancellable within a scope: a flag that is
/// set elsewhere is checked now and then. The end of a nested scope restores the flag of the outer scope.
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

/// Throws if the computation was cancelled. parallel_for() calls it between indices, attention between tiles.
/// @throws Stopped if the flag is set
void stop_if_asked();

/// The number of threads to use: `asked`, or one per hardware thread if `asked` is 0 or less.
int thread_count(int asked);

/// Calls body(0), body(1), ..., body(count - 1), each exactly once, on up to `threads` threads at a time.
///
/// Free threads take indices in ascending order; the caller's thread works too. With threads <= 1 this is a
/// plain loop. The result does not depend on the number of threads if body(i) depends on no other index. So
/// let body(i) write its result to place i, and merge the places in order afterwards.
///
/// If bodies throw, no new index starts, running bodies finish, and the exception of the lowest index is
/// rethrown. A plain loop would throw the same exception.
void parallel_for(Index count, int threads, const std::function<void(Index)>& body);

/// parallel_for() with an ordered merge: body(i) computes a result on any thread and returns a function that
/// merges the result. Merges run one at a time, in order, so sums do not depend on the number of threads.
///
/// At most one unmerged result per thread is in memory. If bodies or merges throw, the exception that
/// parallel_for() would rethrow is rethrown, and nothing after it is merged.
void parallel_in_order(Index count, int threads, const std::function<std::function<void()>(Index)>& body);

}  // namespace headwave
