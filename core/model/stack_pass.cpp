#include "stack_pass.h"

#include <algorithm>

#include <fmt/format.h>

#include "../attention/attend.h"
#include "layer.h"

namespace headwave {

namespace {

Matrix32 queries_of(MatrixView32 states, const AttentionWeights& weights) {
  Matrix32 queries = linear(states, weights.query);
  normalise_heads(queries, weights.query_norm);
  return queries;
}

/// Keys as the weights project them, but where they are fixed.
Matrix32 keys_of(MatrixView32 states, const AttentionWeights& weights, Index layer, const Document& document) {
  Matrix32 keys = linear(states, weights.key);
  normalise_heads(keys, weights.key_norm);
  for (const FixedKeys& fixed : weights.fixed_keys) {
    if (keys.rows() > fixed.keys.rows())
      throw ShapeError(
          fmt::format("{}: {} tokens, but keys of layer {} are fixed at {} positions; give a shorter one, or "
                      "fix them by one as long",
                      document.label(), keys.rows(), layer, fixed.keys.rows()));
    keys.middleCols(fixed.head * fixed.keys.cols(), fixed.keys.cols()) = fixed.keys.topRows(keys.rows());
  }
  return keys;
}

}  // namespace

StackPass::StackPass(const Stack& stack, const Document& document, std::span<Probe* const> probes, MatrixView32 memory)
    : stack_(stack),
      spec_(stack.block),
      document_(document),
      probes_(probes),
      memory_(memory),
      wants_values_(std::any_of(probes.begin(), probes.end(), [](const Probe* p) { return p->wants_values(); })) {}

/// post: x = norm(x + f(x)); pre: x = x + added_norm(f(norm(x))). Where f gives nothing, nobody needs what follows.
template <class Sublayer>
void StackPass::add_sublayer(const Norm& norm, const Norm& added_norm, Matrix32& x, const Sublayer& f) const {
  if (spec_.norm_place == NormPlace::post) {
    add(f(x), {}, x);
    normalise(x, norm);
  } else {
    Matrix32 input = x;
    normalise(input, norm);
    add(f(input), added_norm, x);
  }
}

void StackPass::apply_block(Index layer, const Block& block, bool needed, Matrix32& x) const {
  const bool crosses = !memory_.empty();
  const auto self = [&](const Matrix32& input) {
    Matrix32 added = self_attention(layer, block.self, input, needed || crosses);
    show_addition(layer, Sublayer::attention, added, block.self.output.bias);
    return added;
  };
  const auto cross = [&](const Matrix32& input) {
    Matrix32 added = cross_attention(layer, block.cross, input, needed);
    show_addition(layer, Sublayer::cross_attention, added, block.cross.output.bias);
    return added;
  };
  const auto feed = [&](const Matrix32& input) {
    Matrix32 added = feed_forward(input, block.feed_forward, spec_.activation);
    show_addition(layer, Sublayer::feed_forward, added, block.feed_forward.narrow.bias);
    return added;
  };
  if (spec_.parallel) {
    Matrix32 beside = x;
    normalise(beside, block.feed_forward_norm.empty() ? block.self_norm : block.feed_forward_norm);
    add_sublayer(block.self_norm, block.self_added_norm, x, self);
    if (needed) add(feed(beside), block.feed_forward_added_norm, x);
    return;
  }
  add_sublayer(block.self_norm, block.self_added_norm, x, self);
  if (crosses) add_sublayer(block.cross_norm, {}, x, cross);
  if (needed) add_sublayer(block.feed_forward_norm, block.feed_forward_added_norm, x, feed);
}

Matrix32 StackPass::attend_self(Index layer, const AttentionWeights& weights, MatrixView32 query, MatrixView32 key,
                                MatrixView32 value) const {
  HeadInputs<float> inputs{
      query, key, value, spec_.heads, spec_.kv_heads, spec_.score_scale, stack_.term(layer), spec_.soft_cap};
  inputs.position_key = weights.position_key;
  inputs.position_query = weights.position_query;
  const Mask<float> mask{spec_.causal, -1, -1, {}, stack_.window(layer)};
  return attend<float>(inputs, mask, {layer, self_kind(), &document_}, probes_);
}

Matrix32 StackPass::self_attention(Index layer, const AttentionWeights& weights, const Matrix32& input,
                                   bool needed) const {
  const AttentionKind kind = self_kind();
  show_input(layer, kind, input, &weights);
  const Matrix32 query = queries_of(input, weights);
  const Matrix32 key = keys_of(input, weights, layer, document_);
  const Matrix32 value = needed || shows(weights) ? linear(input, weights.value) : Matrix32();
  show_values(layer, kind, weights, value);
  const Matrix32 heads = attend_self(layer, weights, query, key, value);
  show_heads(layer, kind, weights, heads);
  return needed ? linear(heads, weights.output) : Matrix32();
}

void StackPass::show_finished(Index layer, const FinishedAttention& attention) const {
  if (attention.heads != spec_.heads)
    throw ShapeError(fmt::format("{}: has {} heads, expected {}", attention.called, attention.heads, spec_.heads));
  show_attention(attention, stack_.window(layer), {layer, self_kind(), &document_}, probes_);
}

void StackPass::show_input(Index layer, AttentionKind kind, MatrixView32 states,
                           const AttentionWeights* weights) const {
  for (Probe* probe : probes_)
    probe->see(LayerInput{layer, kind, states, spec_.norm_place == NormPlace::pre, &document_, weights});
}

void StackPass::show_addition(Index layer, Sublayer sublayer, MatrixView32 added, VectorView32 bias) const {
  if (added.empty()) return;
  for (Probe* probe : probes_) probe->see(StreamAddition{layer, self_kind(), sublayer, added, bias});
}

void StackPass::add(Matrix32 change, const Norm& added_norm, Matrix32& x) const {
  if (change.size() == 0) return;
  normalise(change, added_norm);
  if (spec_.residual_scale != 1.0F) change *= spec_.residual_scale;
  x += change;
}

/// Queries from the decoder, keys and values from what the encoder made; no position term, no mask.
Matrix32 StackPass::cross_attention(Index layer, const AttentionWeights& weights, const Matrix32& input,
                                    bool needed) const {
  show_input(layer, AttentionKind::cross, input, &weights);
  const Matrix32 query = queries_of(input, weights);
  const Matrix32 key = keys_of(memory_, weights, layer, document_);
  const Matrix32 value = needed || shows(weights) ? linear(memory_, weights.value) : Matrix32();
  show_values(layer, AttentionKind::cross, weights, value);
  const HeadInputs<float> inputs{query, key, value, spec_.heads, spec_.kv_heads, spec_.score_scale, {}, spec_.soft_cap};
  const Matrix32 heads = attend<float>(inputs, {}, {layer, AttentionKind::cross, &document_}, probes_);
  show_heads(layer, AttentionKind::cross, weights, heads);
  return needed ? linear(heads, weights.output) : Matrix32();
}

void StackPass::show_values(Index layer, AttentionKind kind, const AttentionWeights& weights,
                            MatrixView32 values) const {
  if (!shows(weights)) return;
  const Linear* output = weights.output.empty() ? nullptr : &weights.output;
  for (Probe* probe : probes_)
    if (probe->wants_values())
      probe->see(LayerValues{layer, kind, values, output, spec_.heads, spec_.kv_heads, &document_});
}

void StackPass::show_heads(Index layer, AttentionKind kind, const AttentionWeights& weights,
                           MatrixView32 outputs) const {
  if (!shows(weights)) return;
  for (Probe* probe : probes_)
    if (probe->wants_values()) probe->see(LayerHeads{layer, kind, outputs, spec_.heads, &document_});
}

}  // namespace headwave
