#include "model.h"

#include <algorithm>
#include <utility>

namespace headwave {

namespace {

bool is_other(const Stack& stack, Index layer) {
  return std::ranges::binary_search(stack.others.layers, layer);
}

std::shared_ptr<const Block> in_memory(const Stack& stack, Index layer) {
  return {std::shared_ptr<const Block>(), &stack.blocks[static_cast<std::size_t>(layer)]};
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

}  // namespace headwave
