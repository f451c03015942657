#include "key_free.h"

#include <fmt/format.h>

#include "../algebra/product.h"
#include "head_weights.h"

namespace headwave {

Matrix key_free_queries(MatrixView states, const AttentionWeights& attention, const BlockSpec& block, Index head) {
  const HeadWeights weights = head_weights(attention, block, head);
  if (states.cols() != weights.query.rows())
    throw ShapeError(fmt::format("key_free_queries: states have width {}, the projections expect {}", states.cols(),
                                 weights.query.rows()));
  Matrix query = product(states, weights.query);
  query.rowwise() += weights.query_bias.transpose();
  return product(query, weights.key.transpose());
}

}  // namespace headwave
