#include "../../core/attention/finished_attention.h"

#include <array>
#include <bit>
#include <limits>

#include "../../core/model/model_pass.h"
#include "../../core/numbers/random.h"
#include "../catch.h"

using namespace headwave;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

Matrix32 random_values(Index rows, Index cols, std::uint64_t seed) {
  Random random(seed);
  Matrix32 matrix(rows, cols);
  for (float& entry : matrix.reshaped()) entry = static_cast<float>(random.normal());
  return matrix;
}

/// Everything that a probe is told of tiles.
class Told : public Probe {
 public:
  struct Rows {
    Index layer, first, queries, keys, window;
    AttentionKind kind;
    std::vector<Matrix32> weights;
    bool operator==(const Rows& other) const = default;
  };
  using Probe::see;
  void see(const Tile& tile) override {
    tiles.push_back({tile.layer, tile.first_row, tile.queries, tile.keys, tile.window, tile.kind, {}});
    for (const auto& weights : tile.weights) tiles.back().weights.emplace_back(weights);
    scores = scores || !tile.scores.empty();
  }
  std::vector<Rows> tiles;
  bool scores = false;
};

class Wants : public Told {
 public:
  [[nodiscard]] bool wants_scores() const override { return true; }
};

/// Heads one below the other, as rows that are read.
FinishedAttention finished(const std::vector<Matrix32>& heads) {
  FinishedAttention attention;
  attention.heads = static_cast<Index>(heads.size());
  attention.length = heads.front().cols();
  attention.called = "a.h5: 'attentions'";
  attention.rows = [heads](Index first, Index count) {
    Matrix32 rows(static_cast<Index>(heads.size()) * count, heads.front().cols());
    for (std::size_t h = 0; h < heads.size(); ++h)
      rows.middleRows(static_cast<Index>(h) * count, count) = heads[h].middleRows(first, count);
    return rows;
  };
  return attention;
}

Mask<float> masked(bool causal, Index window = 0) {
  return {causal, {}, window};
}

/// Weights of two heads over so many tokens.
std::vector<Matrix32> weights_of(Index length, const Mask<float>& mask = {}) {
  const Matrix32 query = random_values(length, 8, 1), key = random_values(length, 8, 2);
  HeadInputs<float> inputs{query, key, {}, 2, 2, 0.5};
  Told told;
  const std::array<Probe*, 1> probes{&told};
  attend<float>(inputs, mask, {0, mask.causal ? AttentionKind::causal : AttentionKind::self}, probes);
  std::vector<Matrix32> heads(2, Matrix32(length, length));
  for (const Told::Rows& tile : told.tiles)
    for (std::size_t h = 0; h < 2; ++h) heads[h].middleRows(tile.first, tile.weights[h].rows()) = tile.weights[h];
  return heads;
}

void show(const std::vector<Matrix32>& heads, AttentionKind kind = AttentionKind::self, Index window = 0) {
  Told told;
  const std::array<Probe*, 1> probes{&told};
  show_attention(finished(heads), window, {3, kind}, probes);
}

/// The same with fewer digits.
std::vector<Matrix32> with_bits(std::vector<Matrix32> heads, unsigned digits) {
  const std::uint32_t unit = 1U << (24 - digits);
  for (Matrix32& head : heads)
    for (float& weight : head.reshaped())
      weight = std::bit_cast<float>((std::bit_cast<std::uint32_t>(weight) + unit / 2) & ~(unit - 1));
  return heads;
}

}  // namespace

TEST_CASE("probes see of finished attention the tiles that attend showed, to the bit, and no scores") {
  for (const bool causal : {false, true})
    for (const Index window : {0, 20}) {
      if (window > 0 && !causal) continue;
      const Index length = 150;  // three tiles, the last not whole
      const Matrix32 query = random_values(length, 8, 1), key = random_values(length, 8, 2);
      const AttentionSite site{5, causal ? AttentionKind::causal : AttentionKind::self};
      Told computed, shown;
      std::array<Probe*, 1> probes{&computed};
      attend<float>({query, key, {}, 2, 2, 0.5}, masked(causal, window), site, probes);
      probes = {&shown};
      show_attention(finished(weights_of(length, masked(causal, window))), window, site, probes);
      REQUIRE(shown.tiles.size() == 3);
      CHECK(shown.tiles == computed.tiles);
      CHECK_FALSE(shown.scores);
    }
}

TEST_CASE("a model's pass shows a document's finished attention, layer by layer") {
  Model model;
  model.stack.blocks.resize(4);
  model.stack.block.heads = model.stack.block.kv_heads = 2;
  model.stack.block.causal = true;
  Document document;
  for (const Index layer : {1, 3}) {
    document.stored.push_back({layer, {}, {}, {}});
    document.stored.back().attention = finished(weights_of(9, masked(true)));
  }
  CHECK(document.length() == 9);
  Told told;
  const std::array<Probe*, 1> probes{&told};
  CHECK(model_pass(model, document, probes).size() == 0);
  REQUIRE(told.tiles.size() == 2);
  CHECK(told.tiles[0].layer == 1);
  CHECK(told.tiles[1].layer == 3);
  CHECK(told.tiles[1].kind == AttentionKind::causal);
  model.stack.block.heads = 3;
  CHECK_THROWS_WITH(model_pass(model, document, probes),
                    ContainsSubstring("a.h5: 'attentions': has 2 heads, expected 3"));
}

TEST_CASE("rows of weights may be rounded as their digits say, and no further") {
  const std::vector<Matrix32> exact = weights_of(300);
  CHECK_NOTHROW(show(exact));
  for (const unsigned digits : {11U, 8U}) {
    CAPTURE(digits);
    CHECK_NOTHROW(show(with_bits(exact, digits)));
  }
  // Six digits are none that a type has: taken for bfloat16, whose rows may miss 1 by 2^-7.
  CHECK_THROWS_WITH(show(with_bits(exact, 5)), ContainsSubstring("expected 1 to within 0.008"));
  const auto scaled = [&](const std::vector<Matrix32>& heads, float by) {
    std::vector<Matrix32> changed = heads;
    changed[1].row(7) *= by;
    return changed;
  };
  // (300 + 8) 2^-24 + 2 2^-24 = 1.85e-5
  CHECK_NOTHROW(show(scaled(exact, 1 + 1.7e-5F)));
  CHECK_THROWS_WITH(show(scaled(exact, 1 + 2.1e-5F)),
                    ContainsSubstring("a.h5: 'attentions', layer 3, head 1, row 7 adds up to 1.00002, expected 1 to "
                                      "within 2e-05; are these scores before the softmax, or weights after dropout?"));
}

TEST_CASE("a row where nothing may be attended to is zero, but a layer of such rows was never written") {
  std::vector<Matrix32> heads = weights_of(6);
  heads[0].row(2).setZero();
  CHECK_NOTHROW(show(heads));
  for (Matrix32& head : heads) head.setZero();
  CHECK_THROWS_WITH(show(heads), ContainsSubstring("'attentions', layer 3: every weight is 0"));
}

TEST_CASE("what is no finished attention is refused by layer, head and row") {
  const auto refuse = [](const auto& change, const std::string& text, AttentionKind kind = AttentionKind::self,
                         Index window = 0) {
    std::vector<Matrix32> heads = weights_of(70, masked(kind == AttentionKind::causal, window));
    change(heads[1]);
    CHECK_THROWS_WITH(show(heads, kind, window),
                      ContainsSubstring("a.h5: 'attentions', layer 3, head 1, row ") && ContainsSubstring(text));
    CHECK_THROWS_AS(show(heads, kind, window), FormatError);
  };
  refuse([](Matrix32& head) { head(66, 2) = std::nanf(""); }, "row 66 holds NaN, expected weights from 0 to 1");
  refuse([](Matrix32& head) { head(0, 2) = -infinity; },
         "row 0 holds infinity, expected weights from 0 to 1: are these scores, from before the softmax?");
  refuse([](Matrix32& head) { head(3, 3) = -0.25F; },
         "row 3 holds -0.25, expected weights from 0 to 1: are these scores");
  refuse([](Matrix32& head) { head.row(4) *= 3; }, "row 4 adds up to 3, expected 1 to within");
  refuse([](Matrix32& head) { head.transposeInPlace(); },
         "but the columns do: queries and keys are exchanged; name the axes");
  refuse([](Matrix32& head) { head.row(4) = Eigen::RowVectorXf::Constant(70, 1 / 70.0F); },
         "row 4 gives 0.0142857 to token 5, expected 0 after the query, as in a causal model", AttentionKind::causal);
  refuse([](Matrix32& head) { head.row(69) = Eigen::RowVectorXf::Constant(70, 1 / 70.0F); },
         "row 69 gives 0.0142857 to token 0, expected 0 further back than the window of 8", AttentionKind::causal, 8);
}

TEST_CASE("nobody is shown scores of finished attention, and rows of another shape are refused") {
  FinishedAttention attention = finished(weights_of(5));
  Wants wants;
  std::array<Probe*, 1> probes{&wants};
  CHECK_THROWS_WITH(show_attention(attention, 0, {}, probes),
                    ContainsSubstring("a.h5: 'attentions': holds attention weights, but an analysis needs scores,"));
  CHECK(wants.tiles.empty());
  Told told;
  probes = {&told};
  attention.heads = 3;
  CHECK_THROWS_WITH(show_attention(attention, 0, {}, probes),
                    ContainsSubstring("5 rows of 3 heads have the shape 10 x 5, expected 15 x 5"));
}

TEST_CASE("which way attention looks is told from its first rows") {
  CHECK_FALSE(looks_only_back(finished(weights_of(100))));
  CHECK(looks_only_back(finished(weights_of(100, masked(true)))));
  CHECK_FALSE(looks_only_back(finished({Matrix32::Ones(1, 1)})));
  std::vector<Matrix32> heads = weights_of(5, masked(true));
  heads[1](3, 4) = 0.5F;
  CHECK_FALSE(looks_only_back(finished(heads)));
}
