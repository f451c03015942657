#include "model_pass.h"

#include <algorithm>

#include <fmt/format.h>

#include "../attention/attend.h"
#include "../attention/finished_attention.h"
#include "embedded_tokens.h"
#include "layer.h"

namespace headwave {

namespace {

const char* label(const Document& document) {
  return document.name.empty() ? "document" : document.name.c_str();
}

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
                      label(document), keys.rows(), layer, fixed.keys.rows()));
    keys.middleCols(fixed.head * fixed.keys.cols(), fixed.keys.cols()) = fixed.keys.topRows(keys.rows());
  }
  return keys;
}

/// One stack on its way through a document.
class StackPass {
 public:
  /// @param memory  the encoder's final states, for a decoder that reads them
  StackPass(const Stack& stack, const Document& document, std::span<Probe* const> probes, MatrixView32 memory)
      : stack_(stack), spec_(stack.block), document_(document), probes_(probes), memory_(memory) {
    wants_values_ = std::any_of(probes.begin(), probes.end(), [](const Probe* p) { return p->wants_values(); });
  }

  /// Every block and the final norm, in place.
  /// @param needed  whether anybody wants what follows the last attention
  void apply(Matrix32& x, bool needed) const {
    for (Index layer = 0; layer < stack_.layers(); ++layer)
      apply_block(layer, needed || layer + 1 < stack_.layers(), x);
    if (needed) normalise(x, stack_.final_norm);
  }

  /// Attention within the sequence, over queries and keys that are ready.
  Matrix32 attend_self(Index layer, MatrixView32 query, MatrixView32 key, MatrixView32 value) const {
    const HeadInputs<float> inputs{
        query, key, value, spec_.heads, spec_.kv_heads, spec_.score_scale, stack_.term(layer), spec_.soft_cap};
    const Mask<float> mask{spec_.causal, -1, -1, {}, stack_.window(layer)};
    return attend<float>(inputs, mask, {layer, self_kind(), &document_}, probes_);
  }

  /// The same from the states that enter it. @returns what W_O makes of it, if needed
  [[nodiscard]] Matrix32 self_attention(Index layer, const AttentionWeights& weights, const Matrix32& input,
                                        bool needed) const {
    const AttentionKind kind = self_kind();
    show_input(layer, kind, input);
    const Matrix32 query = queries_of(input, weights);
    const Matrix32 key = keys_of(input, weights, layer, document_);
    const Matrix32 value = needed || shows(weights) ? linear(input, weights.value) : Matrix32();
    show_values(layer, kind, weights, value);
    const Matrix32 heads = attend_self(layer, query, key, value);
    show_heads(layer, kind, weights, heads);
    return needed ? linear(heads, weights.output) : Matrix32();
  }

  /// Attention that needs no queries and keys any more.
  void show_finished(Index layer, const FinishedAttention& attention) const {
    if (attention.heads != spec_.heads)
      throw ShapeError(fmt::format("{}: has {} heads, expected {}", attention.called, attention.heads, spec_.heads));
    show_attention(attention, stack_.window(layer), {layer, self_kind(), &document_}, probes_);
  }

  [[nodiscard]] AttentionKind self_kind() const { return spec_.causal ? AttentionKind::causal : AttentionKind::self; }

  void show_input(Index layer, AttentionKind kind, MatrixView32 states) const {
    for (Probe* probe : probes_)
      probe->see(LayerInput{layer, kind, states, spec_.norm_place == NormPlace::pre, &document_});
  }

 private:
  void apply_block(Index layer, bool needed, Matrix32& x) const {
    const Block& block = stack_.blocks[static_cast<std::size_t>(layer)];
    const bool crosses = !memory_.empty();
    const auto self = [&](const Matrix32& input) {
      return self_attention(layer, block.self, input, needed || crosses);
    };
    const auto cross = [&](const Matrix32& input) { return cross_attention(layer, block.cross, input, needed); };
    const auto feed = [&](const Matrix32& input) { return feed_forward(input, block.feed_forward, spec_.activation); };
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

  /// post: x = norm(x + f(x)); pre: x = x + added_norm(f(norm(x))). Where f gives nothing, nobody needs what follows.
  template <class Sublayer>
  void add_sublayer(const Norm& norm, const Norm& added_norm, Matrix32& x, const Sublayer& f) const {
    if (spec_.norm_place == NormPlace::post) {
      add(f(x), {}, x);
      normalise(x, norm);
    } else {
      Matrix32 input = x;
      normalise(input, norm);
      add(f(input), added_norm, x);
    }
  }

  void add(Matrix32 change, const Norm& added_norm, Matrix32& x) const {
    if (change.size() == 0) return;
    normalise(change, added_norm);
    if (spec_.residual_scale != 1.0F) change *= spec_.residual_scale;
    x += change;
  }

  /// Queries from the decoder, keys and values from what the encoder made; no position term, no mask.
  [[nodiscard]] Matrix32 cross_attention(Index layer, const AttentionWeights& weights, const Matrix32& input,
                                         bool needed) const {
    show_input(layer, AttentionKind::cross, input);
    const Matrix32 query = queries_of(input, weights);
    const Matrix32 key = keys_of(memory_, weights, layer, document_);
    const Matrix32 value = needed || shows(weights) ? linear(memory_, weights.value) : Matrix32();
    show_values(layer, AttentionKind::cross, weights, value);
    const HeadInputs<float> inputs{query,   key,           value, spec_.heads, spec_.kv_heads, spec_.score_scale,
                                   nullptr, spec_.soft_cap};
    const Matrix32 heads = attend<float>(inputs, {}, {layer, AttentionKind::cross, &document_}, probes_);
    show_heads(layer, AttentionKind::cross, weights, heads);
    return needed ? linear(heads, weights.output) : Matrix32();
  }

  /// Whether somebody wants values, and there are any: a checkpoint may hold queries and keys alone.
  [[nodiscard]] bool shows(const AttentionWeights& weights) const { return wants_values_ && !weights.value.empty(); }

  void show_values(Index layer, AttentionKind kind, const AttentionWeights& weights, MatrixView32 values) const {
    if (!shows(weights)) return;
    const Linear* output = weights.output.empty() ? nullptr : &weights.output;
    for (Probe* probe : probes_)
      if (probe->wants_values())
        probe->see(LayerValues{layer, kind, values, output, spec_.heads, spec_.kv_heads, &document_});
  }

  void show_heads(Index layer, AttentionKind kind, const AttentionWeights& weights, MatrixView32 outputs) const {
    if (!shows(weights)) return;
    for (Probe* probe : probes_)
      if (probe->wants_values()) probe->see(LayerHeads{layer, kind, outputs, spec_.heads, &document_});
  }

  const Stack& stack_;
  const BlockSpec& spec_;
  const Document& document_;
  std::span<Probe* const> probes_;
  MatrixView32 memory_;
  bool wants_values_ = false;
};

void require_width(const Document& document, Index layer, const char* what, Index came, Index expected) {
  if (came != expected)
    throw ShapeError(
        fmt::format("{}: stored {} of layer {} have width {}, the model expects {}; are they from this model?",
                    label(document), what, layer, came, expected));
}

/// Attends over one stored layer; what follows from it is not needed.
void attend_stored(const Stack& stack, const StoredLayer& stored, const Document& document, const StackPass& pass) {
  if (!stored.attention.empty()) return pass.show_finished(stored.layer, stored.attention);
  if (stored.query.size() == 0) {
    if (stored.layer < 0 || stored.layer >= stack.layers())
      throw ShapeError(
          fmt::format("{}: states of layer {} were stored, but weights are known for {} layers; is this "
                      "the model they came from?",
                      label(document), stored.layer, stack.layers()));
    const AttentionWeights& weights = stack.blocks[static_cast<std::size_t>(stored.layer)].self;
    require_width(document, stored.layer, "states", stored.states.cols(), weights.query.d_in());
    require_width(document, stored.layer, "queries", weights.query.d_out(), stack.block.heads * stack.block.d_head);
    require_width(document, stored.layer, "keys", weights.key.d_out(), stack.block.kv_heads * stack.block.d_head);
    (void)pass.self_attention(stored.layer, weights, stored.states, false);
    return;
  }
  if (stored.states.size() > 0) pass.show_input(stored.layer, pass.self_kind(), stored.states);
  require_width(document, stored.layer, "queries", stored.query.cols(), stack.block.heads * stack.block.d_head);
  require_width(document, stored.layer, "keys", stored.key.cols(), stack.block.kv_heads * stack.block.d_head);
  pass.attend_self(stored.layer, stored.query, stored.key, {});
}

void require_length(const Model& model, const TokenSequence& tokens, const Document& document) {
  const auto length = static_cast<Index>(tokens.ids.size());
  if (model.longest > 0 && length > model.longest)
    throw ShapeError(fmt::format("{}: {} tokens, but the model has {} positions; give a shorter one", label(document),
                                 length, model.longest));
}

}  // namespace

Matrix32 word_sequence(const Model& model, const Document& document, AttentionKind kind) {
  return word_rows(model.stack_of(kind).embedding, document.query_tokens(kind), document.name);
}

Matrix32 model_pass(const Model& model, const Document& document, std::span<Probe* const> probes,
                    const PassOptions& options) {
  const StackPass pass(model.stack, document, probes, {});
  if (!document.stored.empty()) {
    for (const StoredLayer& stored : document.stored) attend_stored(model.stack, stored, document, pass);
    return {};
  }
  if (document.target.ids.empty() == model.decoder.has_value())
    throw ShapeError(fmt::format("{}: {}", label(document),
                                 model.decoder ? "an encoder-decoder needs a target beside the source; give pairs"
                                               : "there is a target, but the model has no decoder to read it"));
  require_length(model, document, document);
  Matrix32 x = embedded_tokens(model.stack.embedding, document, document.name);
  pass.apply(x, options.final_states || model.decoder);
  if (!model.decoder) return options.final_states ? x : Matrix32();

  require_length(model, document.target, document);
  Matrix32 y = embedded_tokens(model.decoder->embedding, document.target, document.name);
  StackPass(*model.decoder, document, probes, x).apply(y, options.final_states);
  return options.final_states ? y : Matrix32();
}

}  // namespace headwave
