#pragma once

#include <span>

#include "attend.h"

namespace headwave {

/// Shows probes the attention that another program computed, tile by tile as attend() does. There are no
/// scores, queries, keys or values to show.
///
/// Every row is checked when it is read. Its weights must be finite and not negative, and 0 where the mask
/// forbids the key. The weights of the row must all be 0, or sum to 1 within rounding errors:
///
///     |sum_j A_ij - 1| <= 2 (u + T a) + (T + 8) 2^-24                                        (1)
///
/// Here u is the largest relative and a the largest absolute rounding error of one weight. The last term
/// allows for a softmax that was summed in float32. Weights that were computed in half precision keep the
/// rounding errors of half precision, whichever type stores them. So u and a depend on the values in the row:
/// u = 2^-8 and a = 0 if bfloat16 represents all of them exactly, u = 2^-11 and a = 2^-25 if float16 does,
/// and otherwise u = 2^-24 and a = 0. A layer whose weights are all 0 is refused, since it was never written.
///
/// @param window  only keys with |i - j| < window are allowed; 0: no limit. With a causal site, only j <= i
/// @throws FormatError naming the head and the row if a check fails, and saying what was probably stored in
///         place of weights: scores before the softmax, or a transposed matrix (keys by queries); ShapeError
///         if a probe wants scores, queries or keys, or rows have the wrong shape; any Error that
///         FinishedAttention::rows throws
void show_attention(const FinishedAttention& attention, Index window, const AttentionSite& site,
                    std::span<Probe* const> probes);

/// Whether attention seems to be causal: in the first 64 query rows no head gives weight to a later token.
/// False for a document of one token, where this cannot be decided.
/// @throws any Error that FinishedAttention::rows throws
bool looks_only_back(const FinishedAttention& attention);

}  // namespace headwave
