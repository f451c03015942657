#pragma once

// Small random models with rotary positions, shared key heads, biases and channels that do not turn; and a probe that
// keeps what their attention was made of.

#include <deque>
#include <memory>
#include <vector>

#include "../../core/attention/position_term.h"
#include "../../core/model/model_pass.h"
#include "../../core/numbers/random.h"

namespace headwave {

/// Two pre-norm layers of 4 heads of 6 channels, which read 2 key heads; width 8, 20 words.
struct TinyRotaryModel {
  std::deque<Matrix32> matrices;
  std::deque<Vector32> vectors;
  Random random = Random(11);
  Model model;

  explicit TinyRotaryModel(const RotaryOptions& rotary) {
    model.family = "tiny";
    model.stack = stack(false);
    model.stack.block.causal = true;
    model.stack.position_term = {.turned = std::make_shared<RotaryTerm>(rotary)};
  }

  MatrixView32 matrix(Index rows, Index cols) {
    Matrix32& m = matrices.emplace_back(rows, cols);
    for (float& entry : m.reshaped()) entry = static_cast<float>(random.normal());
    return m;
  }
  VectorView32 vector(Index size) {
    Vector32& v = vectors.emplace_back(size);
    for (float& entry : v) entry = static_cast<float>(random.normal());
    return v;
  }
  Linear linear(Index out, Index in) { return {matrix(out, in), vector(out)}; }
  AttentionWeights attention() { return {linear(24, 8), linear(12, 8), linear(12, 8), linear(8, 24)}; }
  Stack stack(bool crosses) {
    Stack made;
    made.block.norm_place = NormPlace::pre;
    made.block.heads = 4;
    made.block.kv_heads = 2;
    made.block.d_head = 6;
    made.block.score_scale = 0.3;
    made.embedding.words = matrix(20, 8);
    vectors.emplace_back(Vector32::Ones(8));
    const Norm norm{vectors.back(), {}, 1e-5F, NormKind::rms};
    for (int layer = 0; layer < 2; ++layer) {
      Block& block = made.blocks.emplace_back();
      block.self = attention();
      if (crosses) block.cross = attention();
      block.feed_forward = {linear(16, 8), {}, linear(8, 16)};
      block.self_norm = block.cross_norm = block.feed_forward_norm = norm;
    }
    return made;
  }
};

inline Document words(std::vector<std::int32_t> ids) {
  Document document;
  document.ids = std::move(ids);
  return document;
}

/// Queries, keys and unmasked scores of one layer, and its attention.
class SeenAttention : public Probe {
 public:
  SeenAttention(const Model& model, const Document& document, Index layer, AttentionKind kind = AttentionKind::causal)
      : layer_(layer), kind_(kind) {
    const std::array<Probe*, 1> probes{this};
    model_pass(model, document, probes);
  }

  [[nodiscard]] bool wants_scores() const override { return true; }
  [[nodiscard]] bool wants_projections() const override { return true; }
  using Probe::see;
  void see(const LayerProjections& seen) override {
    if (seen.layer != layer_ || seen.kind != kind_) return;
    query = seen.query;
    key = seen.key;
  }
  /// Documents here are shorter than a tile.
  void see(const Tile& tile) override {
    if (tile.layer != layer_ || tile.kind != kind_) return;
    for (const MatrixView32& one : tile.scores) scores.emplace_back(one);
    for (const MatrixView32& one : tile.weights) weights.emplace_back(one);
  }

  Matrix32 query, key;
  std::vector<Matrix32> scores, weights;

 private:
  Index layer_;
  AttentionKind kind_;
};

}  // namespace headwave
