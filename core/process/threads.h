#pragma once

#include <functional>

#include "../numbers/matrix.h"

namespace headwave {

/// The number of threads to use: `asked`, or one per hardware thread if `asked` is 0 or less.
int thread_count(int asked);

/// Calls body(0), body(1), ..., body(count - 1), each exactly once, on up to `threads` threads at a time.
///
/// Free threads take indices in ascending order; the caller's thread works too. With threads <= 1 this is a plain loop.
/// If body(i) depends on no other index, the result does not depend on the number of threads: write into place i, and
/// merge in order afterwards.
///
/// If bodies throw, no new index starts, running ones finish, and the exception of the lowest index is rethrown: the one
/// that the plain loop would have thrown.
void parallel_for(Index count, int threads, const std::function<void(Index)>& body);

/// parallel_for() with an ordered merge: body(i) computes on any thread and returns a function that merges its finding;
/// the merges run one at a time, that of i after that of i - 1.
///
/// At most one unmerged finding per thread is in memory. Sums do not depend on the number of threads. If bodies or merges
/// throw, the exception that parallel_for() would rethrow is rethrown, and nothing after it is merged.
void parallel_in_order(Index count, int threads, const std::function<std::function<void()>(Index)>& body);

}  // namespace headwave
