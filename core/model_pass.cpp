#include "headwave/core/model_pass.h"

#include <fmt/format.h>

#include "headwave/core/attend.h"
#include "headwave/core/layer.h"

namespace headwave {

namespace {

const char* label(const Document& document) {
  return document.name.empty() ? "document" : document.name.c_str();
}

/// X_0 = norm(word + position + token type 0).
Matrix32 embedded(const Model& model, const Document& document) {
  const Index length = document.length();
  if (length > model.spec.positions)
    throw ShapeError(fmt::format("{}: {} tokens, but the model has {} positions; ask for a shorter length",
                                 label(document), length, model.spec.positions));
  Matrix32 x = word_sequence(model, document);
  x += model.position_embedding().topRows(length);
  if (!model.token_types.empty()) x.rowwise() += model.token_types.row(0);
  normalise(x, model.embedding_norm);
  return x;
}

HeadInputs<float> head_inputs(const ModelSpec& spec, MatrixView32 query, MatrixView32 key, MatrixView32 value) {
  return {query, key, value, spec.heads, spec.heads, spec.score_scale()};
}

/// x = norm(x + attention(x)); x = norm(x + feed_forward(x)).
void apply_block(const Model& model, Index layer, const Document& document, std::span<Probe* const> probes,
                 bool last_needed, Matrix32& x) {
  const Block& block = model.blocks[static_cast<std::size_t>(layer)];
  const Matrix32 query = linear(x, block.query);
  const Matrix32 key = linear(x, block.key);
  const Matrix32 value = last_needed ? linear(x, block.value) : Matrix32();
  const Matrix32 heads =
      attend<float>(head_inputs(model.spec, query, key, value), {}, {layer, AttentionKind::self, &document}, probes);
  if (!last_needed) return;
  x += linear(heads, block.output);
  normalise(x, block.attention_norm);
  Matrix32 wide = linear(x, block.widen);
  activate(wide, model.spec.activation);
  x += linear(wide, block.narrow);
  normalise(x, block.feed_forward_norm);
}

void require_width(const Document& document, Index layer, const char* what, Index came, Index expected) {
  if (came != expected)
    throw ShapeError(
        fmt::format("{}: stored {} of layer {} have width {}, the model expects {}; are they from this model?",
                    label(document), what, layer, came, expected));
}

/// Attends over one stored layer; its values are not needed, since no layer follows from it.
void attend_stored(const Model& model, const StoredLayer& stored, const Document& document,
                   std::span<Probe* const> probes) {
  const ModelSpec& spec = model.spec;
  if (stored.states.size() > 0) {
    require_width(document, stored.layer, "states", stored.states.cols(), spec.d_model);
    for (Probe* probe : probes) probe->see(LayerInput{stored.layer, stored.states, false, &document});
  }
  Matrix32 query = stored.query;
  Matrix32 key = stored.key;
  if (query.size() == 0) {
    if (stored.layer < 0 || stored.layer >= static_cast<Index>(model.blocks.size()))
      throw ShapeError(fmt::format("{}: states of layer {} were stored, but weights are known for {} layers",
                                   label(document), stored.layer, model.blocks.size()));
    const Block& block = model.blocks[static_cast<std::size_t>(stored.layer)];
    query = linear(stored.states, block.query);
    key = linear(stored.states, block.key);
  }
  require_width(document, stored.layer, "queries", query.cols(), spec.heads * spec.d_head);
  require_width(document, stored.layer, "keys", key.cols(), spec.heads * spec.d_head);
  attend<float>(head_inputs(spec, query, key, {}), {}, {stored.layer, AttentionKind::self, &document}, probes);
}

}  // namespace

Matrix32 word_sequence(const Model& model, const Document& document) {
  Matrix32 x(document.length(), model.words.cols());
  for (Index i = 0; i < x.rows(); ++i) {
    const Index id = document.ids[static_cast<std::size_t>(i)];
    if (id < 0 || id >= model.words.rows())
      throw ShapeError(
          fmt::format("{}: token {} has id {}, outside the vocabulary of {}; was it tokenized for another model?",
                      label(document), i, id, model.words.rows()));
    x.row(i) = model.words.row(id);
  }
  return x;
}

Matrix32 model_pass(const Model& model, const Document& document, std::span<Probe* const> probes,
                    const PassOptions& options) {
  if (!document.stored.empty()) {
    for (const StoredLayer& stored : document.stored) attend_stored(model, stored, document, probes);
    return {};
  }
  Matrix32 x = embedded(model, document);
  for (Index layer = 0; layer < model.spec.layers; ++layer) {
    for (Probe* probe : probes) probe->see(LayerInput{layer, x, false, &document});
    const bool last_needed = options.final_states || layer + 1 < model.spec.layers;
    apply_block(model, layer, document, probes, last_needed, x);
  }
  return options.final_states ? x : Matrix32();
}

}  // namespace headwave
