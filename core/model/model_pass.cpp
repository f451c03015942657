#include "model_pass.h"

#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "../process/threads.h"
#include "embedded_tokens.h"
#include "layer.h"
#include "stack_pass.h"

namespace headwave {

namespace {

void require_width(const Document& document, Index layer, const char* what, Index came, Index expected) {
  if (came != expected)
    throw ShapeError(
        fmt::format("{}: stored {} of layer {} have width {}, the model expects {}; are they from this model?",
                    document.label(), what, layer, came, expected));
}

/// Attends over one stored layer; what follows from it is not needed.
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
    require_width(document, stored.layer, "states", stored.states.cols(), weights.query.d_in());
    require_width(document, stored.layer, "queries", weights.query.d_out(), stack.block.heads * stack.block.d_head);
    require_width(document, stored.layer, "keys", weights.key.d_out(), stack.block.kv_heads * stack.block.d_head);
    (void)pass.self_attention(stored.layer, weights, stored.states, false);
    return;
  }
  if (stored.states.size() > 0) pass.show_input(stored.layer, pass.self_kind(), stored.states);
  require_width(document, stored.layer, "queries", stored.query.cols(), stack.block.heads * stack.block.d_head);
  require_width(document, stored.layer, "keys", stored.key.cols(), stack.block.kv_heads * stack.block.d_head);
  const bool known = stored.layer >= 0 && stored.layer < stack.layers();
  const auto block = known ? stack.queries_and_keys(stored.layer) : std::make_shared<const Block>();
  pass.attend_self(stored.layer, block->self, stored.query, stored.key, {});
}

void require_length(Index longest, const TokenSequence& tokens, const Document& document) {
  const auto length = static_cast<Index>(tokens.ids.size());
  if (longest > 0 && length > longest)
    throw ShapeError(fmt::format("{}: {} tokens, but the model has {} positions; give a shorter one", document.label(),
                                 length, longest));
}

void require_sequences(const Model& model, const Document& document) {
  if (document.target.ids.empty() == model.decoder.has_value())
    throw ShapeError(fmt::format("{}: {}", document.label(),
                                 model.decoder ? "an encoder-decoder needs a target beside the source; give pairs"
                                               : "there is a target, but the model has no decoder to read it"));
  require_length(model.longest, document, document);
  if (model.decoder) require_length(model.longest_target, document.target, document);
}

/// Documents side by side through a stack.
/// @param embedded  the tokens that a document brings into it
/// @param memories  of each document, for a decoder; or empty
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
      StackPass(stack, *documents[d].document, documents[d].probes, memory)
          .apply_block(layer, *block, needed || layer + 1 < stack.layers(), states[d]);
    });
  }
  if (needed)
    for (Matrix32& x : states) normalise(x, stack.final_norm);
  return states;
}

/// Stored layers, which not every document needs to have alike.
void stored_passes(const Stack& stack, std::span<const Passing> documents, int threads) {
  std::size_t most = 0;
  for (const Passing& passing : documents) most = std::max(most, passing.document->stored.size());
  for (std::size_t at = 0; at < most; ++at)
    parallel_for(static_cast<Index>(documents.size()), threads, [&](Index i) {
      const Passing& passing = documents[static_cast<std::size_t>(i)];
      if (at >= passing.document->stored.size()) return;
      attend_stored(stack, passing.document->stored[at], *passing.document,
                    StackPass(stack, *passing.document, passing.probes, {}));
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
