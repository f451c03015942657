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

}  // namespace headwave
