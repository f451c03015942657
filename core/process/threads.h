#pragma once

#include <functional>

#include "../numbers/matrix.h"

namespace headwave {

/// How many threads to use: as many as are asked for; where that is not above 0, one for each the machine runs at once.
int thread_count(int asked);

/// Calls body(0), body(1), ..., body(count - 1), each exactly once, on up to `threads` threads at a time.
///
/// Indices are handed out in ascending order to whoever is free; the caller's thread works too. With threads <= 1 this
/// is a plain loop. What body(i) computes must not depend on other indices, then no digit depends on the number of
/// threads: write into place i, and merge in order afterwards.
///
/// If bodies throw, no new index is handed out, what runs is finished, and the exception of the lowest index is thrown
/// on: the one the plain loop would have thrown.
void parallel_for(Index count, int threads, const std::function<void(Index)>& body);

/// The same, where what each index found is merged in ascending order: body(i) computes, on any thread, and gives back
/// what merges it; those run one at a time, that of i after that of i - 1.
///
/// At most one unmerged finding per thread is in memory. Sums come out the same whatever the number of threads.
/// If bodies or merges throw, what parallel_for() would throw is thrown on, and nothing after it is merged.
void parallel_in_order(Index count, int threads, const std::function<std::function<void()>(Index)>& body);

}  // namespace headwave
