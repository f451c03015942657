#pragma once

#include "../attention/block.h"
#include "../numbers/matrix.h"

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
/// @throws ShapeError if there is no such head
HeadWeights head_weights(const AttentionWeights& attention, const BlockSpec& block, Index head);

}  // namespace headwave
