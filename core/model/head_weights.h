#pragma once

#include <string>

#include "../attention/block.h"
#include "../numbers/matrix.h"
#include "model.h"

namespace headwave {

/// One head's query and key projections in double, as they act on row vectors: q = x query + query_bias.
struct HeadWeights {
  Matrix query;       ///< (d_model, d_head)
  Matrix key;         ///< (d_model, d_head), of the key head that this query head reads
  Vector query_bias;  ///< (d_head); zero where the model has none
};

/// Cuts a head out of a layer's projections.
/// @param head  query head; where key heads are shared (grouped-query attention: GQA, MQA) it reads key head
///              floor(head / (heads / kv_heads))
/// @returns what projects; norms of queries and keys are left out: not_bilinear() says where there are any
/// @throws ShapeError if there is no such head
HeadWeights head_weights(const AttentionWeights& attention, const BlockSpec& block, Index head);

/// Why scores are not scale x_i W_Q W_K^T x_j^T plus a position term: queries or keys are normalised, or projected from
/// compressed states, they are compared with relative positions, or scores are capped. Empty: they are.
std::string not_bilinear(const Stack& stack);

/// The key-free form of attention: a head's query vectors carried back to the space of hidden states, where
/// they can be held against states directly.
///
///     Q~ = (X W_Q + b_Q) W_K^T                                                               (1)
///     softmax(scale Q~ X^T) = softmax(scale (X W_Q + b_Q) (X W_K + b_K)^T)                   (2)
///
/// (2) is exact, since q_i . b_K is the same for all keys and the softmax does not see it. It holds where
/// positions are not rotary: a rotation stands between query and key there, and (1) would leave it out.
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
