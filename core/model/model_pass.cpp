#include "model_pass.h"

#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "../attention/attend.h"
#include "../attention/finished_attention.h"
#include "../process/threads.h"
#include "embedding.h"
#include "layer.h"

namespace headwave {

namespace {

/// Takes a document through one stack, block by block, while probes watch. All arguments must outlive it.
class StackPass {
 public:
  /// @param memory  the encoder's final states, for a decoder that reads them
  StackPass(const Stack& stack, std::span<Probe* const> probes, MatrixView32 memory)
      : stack_(stack),
        spec_(stack.block),
        probes_(probes),
        memory_(memory),
        wants_values_(std::any_of(probes.begin(), probes.end(), [](const Probe* p) { return p->wants_values(); })) {}

  /// Applies one block in place.
  /// @param needed  whether states after its attention are needed
  /// @param x       (T, d_model)
  /// @param given   (T, d_model) replaces what its attention adds; null: that is computed
  void apply_block(Index layer, const Block& block, bool needed, Matrix32& x, const Matrix32* given = nullptr) const {
    const bool crosses = !memory_.empty();
    const auto self = [&](const Matrix32& input) {
      if (given != nullptr) return *given;
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
      Matrix32 added = feed_forward(input, block, spec_);
      // Experts have biases too, but which of them are added depends on the token.
      show_addition(layer, Sublayer::feed_forward, added,
                    block.mixture.empty() ? block.feed_forward.narrow.bias : VectorView32());
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

  /// Attention within the sequence, from projected queries and keys.
  /// @param weights  their position keys, position queries and sinks are used; the projections are not
  /// @returns (T, heads * d_value)
  /// @throws ShapeError as attend()
  Matrix32 attend_self(Index layer, const AttentionWeights& weights, MatrixView32 query, MatrixView32 key,
                       MatrixView32 value) const {
    HeadInputs<float> inputs{
        query, key, value, spec_.heads, spec_.kv_heads, spec_.score_scale, stack_.term(layer), spec_.soft_cap};
    inputs.position_key = weights.position_key;
    inputs.position_query = weights.position_query;
    inputs.sinks = weights.sinks;
    const Mask<float> mask{spec_.causal, {}, stack_.window(layer), stack_.chunk(layer)};
    return attend<float>(inputs, mask, {layer, self_kind()}, probes_);
  }

  /// Attention within the sequence, from the states that enter the projections.
  /// @returns (T, d_model) after W_O; empty if not needed
  Matrix32 self_attention(Index layer, const AttentionWeights& weights, const Matrix32& input, bool needed) const {
    const AttentionKind kind = self_kind();
    show_input(layer, kind, input, &weights);
    Matrix32 compressed;
    const MatrixView32 latent = latent_of(input, weights.key_latent, compressed);
    Matrix32 query = projected_queries(input, weights);
    warm(query, stack_.temperature(layer));
    const Matrix32 key = projected_keys(input, latent, weights, spec_.kv_heads);
    const Matrix32 value = needed || shows(weights) ? linear(latent, weights.value) : Matrix32();
    show_values(layer, kind, weights, value);
    const Matrix32 heads = attend_self(layer, weights, query, key, value);
    show_heads(layer, kind, weights, heads);
    return needed ? linear(heads, weights.output) : Matrix32();
  }

  /// Shows attention that another program computed.
  /// @throws ShapeError if its number of heads is not the stack's
  void show_finished(Index layer, const FinishedAttention& attention) const {
    if (attention.heads != spec_.heads)
      throw ShapeError(fmt::format("{}: has {} heads, expected {}", attention.called, attention.heads, spec_.heads));
    show_attention(attention, stack_.window(layer), {layer, self_kind()}, probes_);
  }

  /// @param weights  the projections of the states; null: unknown
  void show_input(Index layer, AttentionKind kind, MatrixView32 states,
                  const AttentionWeights* weights = nullptr) const {
    for (Probe* probe : probes_) probe->see(LayerInput{layer, kind, states, weights});
  }

  [[nodiscard]] AttentionKind self_kind() const { return spec_.causal ? AttentionKind::causal : AttentionKind::self; }

 private:
  /// post: x = norm(x + f(x)); pre: x = x + added_norm(f(norm(x))). An empty f(x) says that x is not needed.
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

  /// Cross-attention: queries from the decoder, keys and values from the encoder; no position term, no mask.
  Matrix32 cross_attention(Index layer, const AttentionWeights& weights, const Matrix32& input, bool needed) const {
    show_input(layer, AttentionKind::cross, input, &weights);
    const Matrix32 query = projected_queries(input, weights);
    const Matrix32 key = projected_keys(memory_, memory_, weights, spec_.kv_heads);
    const Matrix32 value = needed || shows(weights) ? linear(memory_, weights.value) : Matrix32();
    show_values(layer, AttentionKind::cross, weights, value);
    const HeadInputs<float> inputs{query, key,           value, spec_.heads, spec_.kv_heads, spec_.score_scale,
                                   {},    spec_.soft_cap};
    const Matrix32 heads = attend<float>(inputs, {}, {layer, AttentionKind::cross}, probes_);
    show_heads(layer, AttentionKind::cross, weights, heads);
    return needed ? linear(heads, weights.output) : Matrix32();
  }

  /// Whether a probe wants values and the checkpoint has them: it may hold only queries and keys.
  [[nodiscard]] bool shows(const AttentionWeights& weights) const { return wants_values_ && !weights.value.empty(); }

  void show_addition(Index layer, Sublayer sublayer, MatrixView32 added, VectorView32 bias) const {
    if (added.empty()) return;
    for (Probe* probe : probes_) probe->see(StreamAddition{layer, self_kind(), sublayer, added, bias});
  }

  void show_values(Index layer, AttentionKind kind, const AttentionWeights& weights, MatrixView32 values) const {
    if (!shows(weights)) return;
    const Linear* output = weights.output.empty() ? nullptr : &weights.output;
    for (Probe* probe : probes_)
      if (probe->wants_values()) probe->see(LayerValues{layer, kind, values, output});
  }

  void show_heads(Index layer, AttentionKind kind, const AttentionWeights& weights, MatrixView32 outputs) const {
    if (!shows(weights)) return;
    for (Probe* probe : probes_)
      if (probe->wants_values()) probe->see(LayerHeads{layer, kind, outputs, spec_.heads});
  }

  const Stack& stack_;
  const BlockSpec& spec_;
  std::span<Probe* const> probes_;
  MatrixView32 memory_;
  bool wants_values_;
};

void require_width(const Document& document, Index layer, const char* what, Index came, Index expected) {
  if (came != expected)
    throw ShapeError(
        fmt::format("{}: {} of layer {} have width {}, but the model expects {}; are they from this model?",
                    document.label(), what, layer, came, expected));
}

/// Computes the attention of one stored layer, and nothing after it.
void attend_stored(const Stack& stack, const StoredLayer& stored, const Document& document, const StackPass& pass) {
  if (!stored.attention.empty()) return pass.show_finished(stored.layer, stored.attention);
  if (stored.query.size() == 0) {
    if (stored.layer < 0 || stored.layer >= stack.layers())
      throw ShapeError(
          fmt::format("{}: states of layer {} were stored, but weights are known for {} layers; is this "
                      "the model they came from?",
                      document.label(), stored.layer, stack.layers()));
    const std::shared_ptr<const Block> block = stack.layer(stored.layer);
    const AttentionWeights& weights = block->self;
    require_width(document, stored.layer, "stored states", stored.states.cols(), weights.d_in());
    require_width(document, stored.layer, "queries projected from stored states", weights.query.d_out(),
                  stack.block.heads * stack.block.d_head);
    require_width(document, stored.layer, "keys projected from stored states", weights.key_width(stack.block.kv_heads),
                  stack.block.kv_heads * stack.block.d_head);
    (void)pass.self_attention(stored.layer, weights, stored.states, false);
    return;
  }
  if (stored.states.size() > 0) pass.show_input(stored.layer, pass.self_kind(), stored.states);
  require_width(document, stored.layer, "stored queries", stored.query.cols(), stack.block.heads * stack.block.d_head);
  require_width(document, stored.layer, "stored keys", stored.key.cols(), stack.block.kv_heads * stack.block.d_head);
  const bool known = stored.layer >= 0 && stored.layer < stack.layers();
  const auto block = known ? stack.queries_and_keys(stored.layer) : std::make_shared<const Block>();
  pass.attend_self(stored.layer, block->self, stored.query, stored.key, {});
}

void require_length(Index longest, const TokenSequence& tokens, const Document& document) {
  const auto length = static_cast<Index>(tokens.ids.size());
  if (longest > 0 && length > longest)
    throw ShapeError(fmt::format("{}: {} tokens, but the model has {} positions; give a shorter document",
                                 document.label(), length, longest));
}

void require_sequences(const Model& model, const Document& document) {
  if (document.target.ids.empty() == model.decoder.has_value())
    throw ShapeError(fmt::format("{}: {}", document.label(),
                                 model.decoder
                                     ? "an encoder-decoder needs a target beside each source; give pairs of texts"
                                     : "there is a target, but the model has no decoder to read it"));
  require_length(model.longest, document, document);
  if (model.decoder) require_length(model.longest, document.target, document);
}

/// Takes documents through a stack side by side.
/// @param memories  the encoder's final states of each document, for a decoder; or empty
/// @param embedded  gives the embedded tokens of a document
template <class Embedded>
std::vector<Matrix32> stack_passes(const Stack& stack, std::span<const Passing> documents,
                                   const std::vector<Matrix32>& memories, int threads, bool needed,
                                   const Embedded& embedded) {
  const auto count = static_cast<Index>(documents.size());
  std::vector<Matrix32> states(documents.size());
  parallel_for(count, threads, [&](Index i) {
    states[static_cast<std::size_t>(i)] = embedded(*documents[static_cast<std::size_t>(i)].document);
  });
  for (Index layer = 0; layer < stack.layers(); ++layer) {
    const std::shared_ptr<const Block> block = stack.layer(layer);
    parallel_for(count, threads, [&](Index i) {
      const auto d = static_cast<std::size_t>(i);
      const MatrixView32 memory = memories.empty() ? MatrixView32() : MatrixView32(memories[d]);
      StackPass(stack, documents[d].probes, memory)
          .apply_block(layer, *block, needed || layer + 1 < stack.layers(), states[d]);
    });
  }
  if (needed)
    for (Matrix32& x : states) normalise(x, stack.final_norm);
  return states;
}

/// Computes the stored layers of documents, which need not be the same layers in all of them.
void stored_passes(const Stack& stack, std::span<const Passing> documents, int threads) {
  std::size_t most = 0;
  for (const Passing& passing : documents) most = std::max(most, passing.document->stored.size());
  for (std::size_t at = 0; at < most; ++at)
    parallel_for(static_cast<Index>(documents.size()), threads, [&](Index i) {
      const Passing& passing = documents[static_cast<std::size_t>(i)];
      if (at >= passing.document->stored.size()) return;
      attend_stored(stack, passing.document->stored[at], *passing.document, StackPass(stack, passing.probes, {}));
    });
}

}  // namespace

Matrix32 word_sequence(const Model& model, const Document& document, AttentionKind kind) {
  return word_rows(model.stack_of(kind).embedding, document.query_tokens(kind), document.name);
}

Matrix32 model_pass(const Model& model, const Document& document, std::span<Probe* const> probes,
                    const PassOptions& options) {
  const Passing alone{&document, probes};
  return std::move(model_passes(model, {&alone, 1}, 1, options).front());
}

std::vector<Matrix32> block_states(const Model& model, const Document& document, std::span<Probe* const> probes) {
  require_sequences(model, document);
  const Stack& stack = model.stack;
  std::vector<Matrix32> states{embedded_tokens(stack.embedding, document, document.name)};
  for (Index layer = 0; layer < stack.layers(); ++layer) {
    Matrix32 x = states.back();
    StackPass(stack, probes, {}).apply_block(layer, *stack.layer(layer), true, x);
    states.push_back(std::move(x));
  }
  return states;
}

Matrix32 resumed_pass(const Model& model, Index layer, Matrix32 x, const Matrix32& added) {
  const Stack& stack = model.stack;
  const StackPass pass(stack, {}, {});
  for (Index at = layer; at < stack.layers(); ++at)
    pass.apply_block(at, *stack.layer(at), true, x, at == layer ? &added : nullptr);
  normalise(x, stack.final_norm);
  return x;
}

std::vector<Matrix32> model_passes(const Model& model, std::span<const Passing> documents, int threads,
                                   const PassOptions& options) {
  std::vector<Matrix32> none(documents.size());
  if (documents.empty()) return none;
  if (!documents.front().document->stored.empty()) {
    stored_passes(model.stack, documents, threads);
    return none;
  }
  for (const Passing& passing : documents) require_sequences(model, *passing.document);
  std::vector<Matrix32> states =
      stack_passes(model.stack, documents, {}, threads, options.final_states || model.decoder,
                   [&](const Document& d) { return embedded_tokens(model.stack.embedding, d, d.name); });
  if (model.decoder)
    states = stack_passes(*model.decoder, documents, states, threads, options.final_states, [&](const Document& d) {
      return embedded_tokens(model.decoder->embedding, d.target, d.name);
    });
  return options.final_states ? states : none;
}

}  // namespace headwave
