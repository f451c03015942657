#include "model.h"

#include <algorithm>

#include <fmt/format.h>

namespace headwave {

namespace {

bool is_other(const Stack& stack, Index layer) {
  return std::ranges::binary_search(stack.others.layers, layer);
}

std::shared_ptr<const Block> in_memory(const Stack& stack, Index layer) {
  return {std::shared_ptr<const Block>(), &stack.blocks[static_cast<std::size_t>(layer)]};
}

/// Columns first .. first + count - 1 of W in y = x W + b.
Matrix columns_of(const Linear& linear, Index first, Index count) {
  return linear.weight.middleRows(first, count).transpose().cast<double>();
}

}  // namespace

std::shared_ptr<const Block> Stack::layer(Index layer) const {
  return store ? store->block(layer) : in_memory(*this, layer);
}

std::shared_ptr<const Block> Stack::queries_and_keys(Index layer) const {
  return store ? store->queries_and_keys(layer) : in_memory(*this, layer);
}

Index Stack::window(Index layer) const {
  return is_other(*this, layer) ? others.window : block.window;
}

Index Stack::chunk(Index layer) const {
  return is_other(*this, layer) ? others.chunk : block.chunk;
}

QueryTemperature Stack::temperature(Index layer) const {
  return is_other(*this, layer) ? others.temperature : QueryTemperature{};
}

const PositionTerm& Stack::term(Index layer) const {
  return is_other(*this, layer) ? others.position_term : position_term;
}

const RotaryTerm* Stack::rotary(Index layer) const {
  return term(layer).turned.get();
}

const RotaryTerm* Stack::rotary() const {
  return position_term.turned ? position_term.turned.get() : others.position_term.turned.get();
}

bool Stack::normalises_heads() const {
  return std::ranges::any_of(blocks,
                             [](const Block& b) { return !b.self.query_norm.empty() || !b.self.key_norm.empty(); });
}

bool Stack::compresses() const {
  return std::ranges::any_of(blocks,
                             [](const Block& b) { return !b.self.query_latent.empty() || !b.self.key_latent.empty(); });
}

bool Stack::has_sinks() const {
  return std::ranges::any_of(blocks, [](const Block& b) { return !b.self.sinks.empty(); });
}

std::vector<AttentionKind> Model::kinds() const {
  if (decoder) return {AttentionKind::self, AttentionKind::causal, AttentionKind::cross};
  return {stack.block.causal ? AttentionKind::causal : AttentionKind::self};
}

const Stack& Model::stack_of(AttentionKind kind) const {
  return decoder && kind != AttentionKind::self ? *decoder : stack;
}

HeadWeights head_weights(const AttentionWeights& attention, const BlockSpec& block, Index head) {
  if (head < 0 || head >= block.heads)
    throw ShapeError(
        fmt::format("head_weights: there is no head {} among {} heads (counted from 0)", head, block.heads));
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
  if (stack.others.temperature.strength != 0) return "queries of some layers are scaled by their position";
  return stack.block.soft_cap > 0 ? "scores are capped" : "";
}

}  // namespace headwave
