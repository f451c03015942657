#include "../../core/planted/planted.h"

#include <array>
#include <cmath>
#include <numbers>

#include "../../core/model/model_pass.h"
#include "../catch.h"

using namespace headwave;

namespace {

/// Keeps scores and weights of every head; T is small enough in tests.
class Keep : public Probe {
 public:
  [[nodiscard]] bool wants_scores() const override { return true; }
  using Probe::see;
  void see(const Tile& tile) override {
    if (tile.first_row == 0 && tile.layer == 0) {
      scores.assign(static_cast<std::size_t>(tile.heads()), Matrix32::Zero(tile.queries, tile.keys));
      weights = scores;
    }
    if (tile.layer != 0) return;
    for (std::size_t h = 0; h < tile.weights.size(); ++h) {
      scores[h].middleRows(tile.first_row, tile.rows()) = tile.scores[h];
      weights[h].middleRows(tile.first_row, tile.rows()) = tile.weights[h];
    }
  }
  std::vector<Matrix32> scores, weights;
};

PlantedSpec one_head(std::vector<double> frequencies, std::vector<double> amplitudes, double offset) {
  PlantedSpec spec;
  spec.d_model = 96;
  spec.d_head = 32;
  spec.words = 0;
  spec.frequencies = std::move(frequencies);
  spec.heads = {{{PlantedKind::left, offset, std::move(amplitudes), 0.0}}};
  return spec;
}

void look_at(const PlantedModel& planted, Keep& keep) {
  const std::array<Probe*, 1> probes{&keep};
  const auto documents = planted_documents(planted, 1, planted.spec.length, 1);
  model_pass(planted.model, documents->document(0), probes);
}

double mean_weight(const Matrix32& weights, Index t) {
  return weights.diagonal(t).cast<double>().mean();
}

Index rows_with_maximum_at(const Matrix32& weights, Index t) {
  Index rows = 0;
  for (Index i = 0; i < weights.rows(); ++i) {
    Index j = 0;
    weights.row(i).maxCoeff(&j);
    rows += j - i == t ? 1 : 0;
  }
  return rows;
}

}  // namespace

TEST_CASE("fixture 1: a soft head two tokens to the left") {
  const std::vector<double> f{37.3, 41.6, 46.2, 50.4, 53.7, 61.8}, a{2, 1.8, 1.6, 1.4, 1.2, 1};
  const PlantedModel planted = planted_model(one_head(f, a, -2));
  Keep keep;
  look_at(planted, keep);
  SECTION("scores are the sum of cosines") {
    double difference = 0.0;
    for (Index i = 0; i < 512; i += 37)
      for (Index j = 0; j < 512; ++j) {
        double expected = 0.0;
        for (std::size_t m = 0; m < f.size(); ++m)
          expected += a[m] * std::cos(2 * std::numbers::pi * f[m] / 512 * static_cast<double>(j - i + 2));
        difference = std::max(difference, std::abs(expected - static_cast<double>(keep.scores[0](i, j))));
      }
    // A sum of 32 float products of size up to 9.
    CHECK(difference < 32 * 9 * std::numeric_limits<float>::epsilon());
  }
  SECTION("attention lands where the closed form says") {
    const double expected[] = {0.002, 0.079, 0.345, 0.079, 0.002};
    for (Index t = -4; t <= 0; ++t) CHECK(mean_weight(keep.weights[0], t) == Approx(expected[t + 4]).margin(5e-4));
    CHECK(rows_with_maximum_at(keep.weights[0], -2) == 510);
  }
}

TEST_CASE("fixture 2: a sharp head on the token before") {
  const PlantedModel planted = planted_model(one_head({37, 41, 46, 50, 53, 62}, std::vector<double>(6, 1.6), -1));
  Keep keep;
  look_at(planted, keep);
  const double expected[] = {0.001, 0.077, 0.408, 0.077, 0.001};
  for (Index t = -3; t <= 1; ++t) CHECK(mean_weight(keep.weights[0], t) == Approx(expected[t + 3]).margin(5e-4));
  CHECK(rows_with_maximum_at(keep.weights[0], -1) == 511);
}

TEST_CASE("every layer of the bank reads the same waves and words") {
  const PlantedModel planted = planted_model(planted_bank());
  const auto documents = planted_documents(planted, 2, 128, 3);
  const Matrix32 last = model_pass(planted.model, documents->document(0), {}, {.final_states = true});
  Document document = documents->document(0);
  Matrix32 first = word_sequence(planted.model, document) + planted.model.stack.embedding.positions.topRows(128);
  first *= static_cast<float>(std::sqrt(256.0 / (10.0 + 4.0)));
  CHECK((last - first).cwiseAbs().maxCoeff() <
        100 * std::numeric_limits<float>::epsilon() * first.cwiseAbs().maxCoeff());
  CHECK(document.ids.front() == 2);
  CHECK(document.ids.back() == 3);
  CHECK(documents->document(1).ids != document.ids);
}

TEST_CASE("documents of a planted model without words have no special tokens") {
  const PlantedModel planted = planted_model(one_head({37}, {1.0}, -1));
  const auto documents = planted_documents(planted, 1, 8, 1);
  CHECK(documents->document(0).special == std::vector<std::uint8_t>(8, 0));
  CHECK(std::get<std::string>(documents->provenance().at("special_tokens")) == "none");
}

TEST_CASE("planted models say what does not fit") {
  PlantedSpec spec = one_head({37, 41}, {1.0}, -1);
  CHECK_THROWS_WITH(planted_model(spec), ContainsSubstring("with 1 amplitudes"));
  spec = one_head(std::vector<double>(17, 10.0), std::vector<double>(17, 1.0), -1);
  CHECK_THROWS_WITH(planted_model(spec), ContainsSubstring("d_head of at least 34"));
  spec = one_head({37}, {}, 0);
  CHECK_THROWS_WITH(planted_model(spec), ContainsSubstring("words for any other"));
  spec = one_head({37}, {1.0}, -1);
  spec.d_model = 2;
  CHECK_THROWS_WITH(planted_model(spec), ContainsSubstring("need d_model of at least"));
  spec = one_head({37}, {1.0}, -1);
  spec.heads.push_back({spec.heads[0][0], spec.heads[0][0]});
  CHECK_THROWS_WITH(planted_model(spec), ContainsSubstring("in a layer of 2 heads"));
  spec.heads.clear();
  CHECK_THROWS_WITH(planted_model(spec), ContainsSubstring("no heads to plant"));
  const PlantedModel planted = planted_model(planted_bank());
  CHECK_THROWS_WITH(planted_documents(planted, 1, 513, 1),
                    ContainsSubstring("planted_documents: expected 3 to 512 tokens per document, found 513"));
  CHECK_THROWS_WITH(planted_documents(planted, 1, 2, 1),
                    ContainsSubstring("planted_documents: expected 3 to 512 tokens per document, found 2"));
}
