#pragma once

#include "../attention/block.h"
#include "../numbers/matrix.h"

namespace headwave {

/// The key-free form of attention: a head's query vectors carried back to the space of hidden states, where they can be
/// held against states directly.
///
///     Q~ = (X W_Q + b_Q) W_K^T                                                               (1)
///     softmax(scale Q~ X^T) = softmax(scale (X W_Q + b_Q) (X W_K + b_K)^T)                   (2)
///
/// (2) is exact, since q_i . b_K is the same for all keys and the softmax does not see it. It holds where positions are
/// not rotary: a rotation stands between query and key there, and (1) would leave it out.
///
/// Source: Elhage et al. 2021 (the QK circuit).
/// @param states     (T, d_model) what enters the projections
/// @param attention  projections of all heads
/// @param block      how heads share the width
/// @param head       which
/// @returns (T, d_model)
/// @throws ShapeError if widths differ or there is no such head
Matrix key_free_queries(MatrixView states, const AttentionWeights& attention, const BlockSpec& block, Index head);

}  // namespace headwave
