#pragma once

#include <span>

#include "attend.h"

namespace headwave {

/// Shows attention that another program computed to probes, tile by tile as attend() does. There are no
/// scores, queries, keys or values to show.
///
/// Every row is checked as it comes. Its weights are finite and not negative, 0 where the mask forbids the
/// key, and they are all 0 or add up to 1 within what their digits allow,
///
///     |sum_j A_ij - 1| <= 2 (u + T a) + (T + 8) 2^-24                                        (1)
///
/// The last term allows for a softmax summed in float32. u = 2^-8 if no weight of the row has more digits
/// than bfloat16, u = 2^-11 and a = 2^-25 if none has more than float16, else u = 2^-24: weights computed in
/// half precision keep their rounding whichever type they are stored in. If all weights of all rows are 0,
/// they were never written.
///
/// @param window  only keys with |i - j| < window are allowed; 0: no limit. Of a causal site, only keys j <=
///         i
/// @throws FormatError naming the head and the row if (1) or another of these fails, with what was probably
///         stored instead: scores before the softmax, or keys by queries; ShapeError if a probe wants scores
///         or queries and keys, or rows come in another shape; Error as `rows` does
void show_attention(const FinishedAttention& attention, Index window, const AttentionSite& site,
                    std::span<Probe* const> probes);

/// Whether the attention looks causal: in the first 64 rows no head gives weight to a token after the query.
/// False for a single token, which cannot tell.
/// @throws Error as `rows` does
bool looks_only_back(const FinishedAttention& attention);

}  // namespace headwave
