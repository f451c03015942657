#include "head_weights.h"

#include <fmt/format.h>

#include "../algebra/product.h"

namespace headwave {

namespace {

/// Columns first .. first + count - 1 of W in y = x W + b.
Matrix columns_of(const Linear& linear, Index first, Index count) {
  return linear.weight.middleRows(first, count).transpose().cast<double>();
}

}  // namespace

HeadWeights head_weights(const AttentionWeights& attention, const BlockSpec& block, Index head) {
  if (head < 0 || head >= block.heads)
    throw ShapeError(fmt::format("head_weights: there is no head {} among {}", head, block.heads));
  const Index kv_head = block.key_head(head);
  HeadWeights weights{columns_of(attention.query, head * block.d_head, block.d_head),
                      columns_of(attention.key, kv_head * block.d_head, block.d_head), Vector::Zero(block.d_head)};
  if (!attention.query.bias.empty())
    weights.query_bias = attention.query.bias.segment(head * block.d_head, block.d_head).cast<double>();
  return weights;
}

std::string not_bilinear(const Stack& stack) {
  if (stack.normalises_heads()) return "queries and keys are normalised after projection";
  if (stack.compresses()) return "queries and keys are projected from a compressed, normalised state";
  if (stack.position_term.compared) return "queries and keys are compared with relative positions too";
  return stack.block.soft_cap > 0 ? "scores are capped" : "";
}

}  // namespace headwave
