#pragma once

#include <span>

#include "attend.h"

namespace headwave {

/// Shows probes the attention that another program computed, tile by tile as attend() does. There are no
/// scores, queries, keys or values to show.
///
/// Every row is checked as it is read. Weights must be finite and not negative, and 0 where the mask forbids
/// the key. They must all be 0, or sum to 1 within rounding:
///
///     |sum_j A_ij - 1| <= 2 (u + T a) + (T + 8) 2^-24                                        (1)
///
/// The last term allows for a softmax summed in float32. Weights computed in half precision keep their
/// rounding, whichever type stores them, so u and a follow from the digits of the row: u = 2^-8 and a = 0 if
/// its weights fit bfloat16; u = 2^-11 and a = 2^-25 if they fit float16; otherwise u = 2^-24 and a = 0. A
/// layer whose weights are all 0 was never written, and is refused.
///
/// @param window  only keys with |i - j| < window are allowed; 0: no limit. A causal site allows only j <= i
/// @throws FormatError naming the head and the row if a check fails, with what was probably stored instead:
///         scores before the softmax, or keys by queries; ShapeError if a probe wants scores, or queries and
///         keys, or rows have the wrong shape; Error as FinishedAttention::rows does
void show_attention(const FinishedAttention& attention, Index window, const AttentionSite& site,
                    std::span<Probe* const> probes);

/// Whether attention looks causal: no head gives weight to a later token in the first 64 rows. False for a
/// single token, which cannot tell.
/// @throws Error as FinishedAttention::rows does
bool looks_only_back(const FinishedAttention& attention);

}  // namespace headwave
