#include "../../analysis/attention/sought_words.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

#include "../../core/attention/position_term.h"
#include "../../core/model/head_weights.h"
#include "../../core/model/layer_positions.h"
#include "../../core/model/model_pass.h"
#include "../../core/planted/planted.h"
#include "../catch.h"

using namespace headwave;

namespace {

/// Layer 1 holds a content head, which attends to equal words, and a noise head.
PlantedModel two_layers() {
  PlantedSpec spec;
  spec.length = 16;
  spec.d_model = 48;
  spec.d_head = 32;
  spec.words = 8;
  spec.frequencies = {1.3, 2.6};
  const PlantedHead noise{PlantedKind::noise, 0, {}, 1.0}, content{PlantedKind::content, 0, {}, 4.0};
  spec.heads = {{noise, noise}, {content, noise}};
  return planted_model(spec);
}

Document document_with_ids(std::vector<std::int32_t> ids) {
  Document document;
  document.ids = std::move(ids);
  return document;
}

class Entering : public Probe {
 public:
  using Probe::see;
  void see(const LayerInput& input) override {
    if (input.layer == 1) states = input.states.cast<double>();
  }
  void see(const Tile& /*tile*/) override {}
  Matrix states;
};

/// scale q_i . k_w over all words, one product after another, less their mean.
std::vector<double> scores_by_hand(const Model& model, const Eigen::RowVectorXd& state, Index head) {
  const HeadWeights weights = head_weights(model.stack.blocks[1].self, model.stack.block, head);
  const Eigen::RowVectorXd query = state * weights.query + weights.query_bias.transpose();
  const Matrix words = layer_words(model.stack, 1).cast<double>();
  std::vector<double> scores;
  double sum = 0;
  for (Index w = 0; w < words.rows(); ++w) {
    const Eigen::RowVectorXd key = words.row(w) * weights.key;
    double score = 0;
    for (Index c = 0; c < key.size(); ++c) score += query[c] * key[c];
    scores.push_back(score * model.stack.block.score_scale);
    sum += scores.back();
  }
  for (double& score : scores) score -= sum / static_cast<double>(scores.size());
  return scores;
}

}  // namespace

TEST_CASE("a head that attends to equal words looks for the word itself") {
  const PlantedModel planted = two_layers();
  const Document document = document_with_ids({2, 5, 9, 12, 7, 3});
  const auto sought = sought_words(planted.model, document, {1, 0}, 3).by_token;
  REQUIRE(sought.size() == 6);
  for (std::size_t i = 1; i < 5; ++i) CHECK(sought[i].front().id == document.ids[i]);
}

TEST_CASE("what a head looks for is what its queries and the words' keys say, one product after another") {
  const PlantedModel planted = two_layers();
  const Document document = document_with_ids({2, 5, 9, 12, 3});
  Entering entering;
  const std::array<Probe*, 1> probes{&entering};
  model_pass(planted.model, document, probes);
  for (const Index head : {0, 1}) {
    const auto sought = sought_words(planted.model, document, {1, head}, 4).by_token;
    REQUIRE(sought.size() == 5);
    for (Index i = 0; i < 5; ++i) {
      CAPTURE(head, i);
      const std::vector<double> scores = scores_by_hand(planted.model, entering.states.row(i), head);
      std::vector<double> sorted = scores;
      std::sort(sorted.begin(), sorted.end(), std::greater<>());
      const auto& words = sought[static_cast<std::size_t>(i)];
      REQUIRE(words.size() == 4);
      // Float32 sums of d_model products.
      const double rounding = 48 * 1.2e-7 * std::max(std::abs(sorted.front()), std::abs(sorted.back()));
      for (std::size_t n = 0; n < words.size(); ++n) {
        CHECK(words[n].score == Approx(scores[static_cast<std::size_t>(words[n].id)]).margin(rounding));
        CHECK(words[n].score == Approx(sorted[n]).margin(rounding));
      }
    }
  }
  CHECK(sought_words(planted.model, document, {0, 0}, 1000).by_token.front().size() == 13);
}

TEST_CASE("what a head looks for is refused where there is no such head, or positions turn its queries") {
  PlantedModel planted = two_layers();
  const Document document = document_with_ids({2, 5, 3});
  CHECK_THROWS_WITH(sought_words(planted.model, document, {2, 0}, 1), ContainsSubstring("there is no L2H0"));
  CHECK_THROWS_WITH(sought_words(planted.model, document, {0, 2}, 1), ContainsSubstring("there is no L0H2"));
  CHECK_THROWS_AS(sought_words(planted.model, document, {0, -1}, 1), ShapeError);
  planted.model.stack.position_term = {.turned = std::make_shared<RotaryTerm>(RotaryOptions{.channels = 32})};
  CHECK_THROWS_WITH(sought_words(planted.model, document, {0, 0}, 1), ContainsSubstring("by their positions"));
  planted.model.stack.position_term = {.compared =
                                           std::make_shared<DisentangledTerm>(DisentangledOptions{.farthest = 8})};
  CHECK_THROWS_WITH(sought_words(planted.model, document, {0, 0}, 1),
                    ContainsSubstring("compared with relative positions"));
}

TEST_CASE("words give the scores of heads that find words, and hardly those of heads that look at an offset") {
  const PlantedModel planted = planted_model(planted_bank());
  const auto documents = planted_documents(planted, 1, 64, 3);
  const Document document = documents->document(0);
  for (std::size_t layer = 0; layer < planted.spec.heads.size(); ++layer)
    for (std::size_t head = 0; head < planted.spec.heads[layer].size(); ++head) {
      const PlantedHead& built = planted.spec.heads[layer][head];
      CAPTURE(layer, head, name_of(built.kind));
      const double share =
          sought_words(planted.model, document, {static_cast<Index>(layer), static_cast<Index>(head)}, 1)
              .share_of_words;
      if (built.kind == PlantedKind::content) CHECK(share > 0.5);
      if (built.kind == PlantedKind::adjacent) CHECK(share < 0.2);
    }
}
