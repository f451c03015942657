#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "../../core/attention/attend.h"
#include "../../core/attention/position_term.h"
#include "../../core/numbers/random.h"
#include "../catch.h"
#include "../test_numbers.h"

using namespace headwave;

namespace {

/// Keeps the scores of every head of one layer before the mask.
class ScoreKeeper : public Probe {
 public:
  using Probe::see;
  [[nodiscard]] bool wants_scores() const override { return true; }
  void see(const Tile&) override {}
  void see(const Tile64& tile) override {
    if (tile.first_row == 0) scores.assign(tile.scores.size(), Matrix::Zero(tile.queries, tile.keys));
    for (std::size_t h = 0; h < scores.size(); ++h) scores[h].middleRows(tile.first_row, tile.rows()) = tile.scores[h];
  }
  std::vector<Matrix> scores;
};

/// Three heads of four channels.
struct Sample {
  Index kv_heads = 3;
  Index length = 150;  // more than two tiles
  Matrix query = random_matrix(length, 12, 1), key = random_matrix(length, 4 * kv_heads, 2),
         value = random_matrix(length, 2 * kv_heads, 3);

  [[nodiscard]] HeadInputs<double> inputs() const { return {query, key, value, 3, kv_heads, 0.25}; }
};

std::vector<Matrix> scores_of(const HeadInputs<double>& inputs) {
  ScoreKeeper kept;
  const std::array<Probe*, 1> probes{&kept};
  attend<double>(inputs, {}, {}, probes);
  return kept.scores;
}

}  // namespace

TEST_CASE("disentangled rows: near offsets have their own, far ones share, as transformers' buckets do") {
  const DisentangledTerm each({.farthest = 3});
  CHECK(each.rows() == 6);
  CHECK(each.row(0) == 3);
  CHECK(each.row(-2) == 5);
  CHECK(each.row(-100) == 5);
  CHECK(each.row(3) == 0);
  CHECK(each.row(100) == 0);
  // Distances at which make_log_bucket_position of transformers 5.23.0 begins the next of 32 buckets of 512.
  const std::array<Index, 15> begins{17, 21, 26, 32, 41, 51, 64, 81, 102, 128, 162, 203, 256, 322, 406};
  const DisentangledTerm shared({.farthest = 512, .buckets = 32});
  Index bucket = 16;
  for (Index distance = 17; distance < 512; ++distance) {
    if (std::ranges::find(begins, distance) != begins.end()) ++bucket;
    CHECK(shared.row(-distance) == 32 + bucket);
    CHECK(shared.row(distance) == 32 - bucket);
  }
  CHECK(shared.row(-512) == 63);
  CHECK(shared.row(512) == 0);
  // The published sizes.
  const DisentangledTerm published({.farthest = 512, .buckets = 256});
  Index sum = 0;
  for (Index distance = 0; distance < 512; ++distance) sum += published.row(-distance) - 256;
  CHECK(published.row(-200) - 256 == 169);
  CHECK(published.row(-511) - 256 == 255);
  CHECK(sum == 87297);
}

TEST_CASE("disentangled scores are those of a loop over every pair, whatever the tile") {
  for (const Index kv_heads : {3, 1})
    for (const DisentangledOptions& options : {DisentangledOptions{.farthest = 40}, {.farthest = 90, .buckets = 7}}) {
      const Sample sample{kv_heads};
      const DisentangledTerm term(options);
      const Matrix position_key = random_matrix(term.rows(), 12, 4), position_query = random_matrix(term.rows(), 12, 5);
      for (const bool keys : {true, false})
        for (const bool queries : {true, false}) {
          if (!keys && !queries) continue;
          HeadInputs<double> inputs = sample.inputs();
          inputs.position_term = {.compared = std::make_shared<DisentangledTerm>(options)};
          if (keys) inputs.position_key = position_key;
          if (queries) inputs.position_query = position_query;
          const std::vector<Matrix> came = scores_of(inputs);
          for (Index h = 0; h < 3; ++h) {
            Matrix expected(sample.length, sample.length);
            for (Index i = 0; i < sample.length; ++i)
              for (Index j = 0; j < sample.length; ++j) {
                const auto q = sample.query.row(i).segment(4 * h, 4),
                           k = sample.key.row(j).segment(kv_heads == 1 ? 0 : 4 * h, 4);
                double score = q.dot(k);
                if (keys) score += q.dot(position_key.row(term.row(j - i)).segment(4 * h, 4));
                if (queries) score += k.dot(position_query.row(term.row(j - i)).segment(4 * h, 4));
                expected(i, j) = 0.25 * score;
              }
            const Matrix& scores = came[static_cast<std::size_t>(h)];
            CHECK((scores - expected).cwiseAbs().maxCoeff() < 32 * 1e-16 * expected.cwiseAbs().maxCoeff());
          }
        }
    }
}

TEST_CASE("disentangled scores under a causal mask are the same as without, where keys are allowed") {
  const Sample sample;
  const auto term = std::make_shared<DisentangledTerm>(DisentangledOptions{.farthest = 90, .buckets = 8});
  const Matrix rows = random_matrix(term->rows(), 12, 6);
  HeadInputs<double> inputs = sample.inputs();
  inputs.position_term = {.compared = term};
  inputs.position_key = inputs.position_query = rows;
  Mask<double> causal, additive;
  causal.causal = true;
  Matrix forbidden = Matrix::Zero(sample.length, sample.length);
  forbidden.triangularView<Eigen::StrictlyUpper>().setConstant(-std::numeric_limits<double>::infinity());
  additive.additive = forbidden;
  const Matrix came = attend<double>(inputs, causal, {}, {}), expected = attend<double>(inputs, additive, {}, {});
  CHECK((came - expected).cwiseAbs().maxCoeff() < 64 * 1e-16 * expected.cwiseAbs().maxCoeff());
}

TEST_CASE("a disentangled term without its rows, or without a meaning, is refused by name") {
  CHECK_THROWS_WITH(DisentangledTerm({.farthest = 0}), ContainsSubstring("0 buckets per side for distances up to 0"));
  CHECK_THROWS_WITH(DisentangledTerm({.farthest = 20, .buckets = 1}), ContainsSubstring("1 buckets per side"));
  CHECK_THROWS_WITH(DisentangledTerm({.farthest = 5, .buckets = 8}), ContainsSubstring("8 buckets per side"));
  const Sample sample;
  HeadInputs<double> inputs = sample.inputs();
  inputs.position_term = {.compared = std::make_shared<DisentangledTerm>(DisentangledOptions{.farthest = 10})};
  CHECK_THROWS_WITH(attend<double>(inputs, {}, {}, {}), ContainsSubstring("need position keys or position queries"));
  const Matrix few = random_matrix(19, 12, 7), narrow = random_matrix(20, 11, 8);
  inputs.position_key = few;
  CHECK_THROWS_WITH(attend<double>(inputs, {}, {}, {}), ContainsSubstring("are (19, 12), expected 20 or more rows"));
  inputs.position_key = narrow;
  CHECK_THROWS_WITH(attend<double>(inputs, {}, {}, {}), ContainsSubstring("rows of width 12"));
  CHECK_THROWS_WITH(attend<double>(inputs, {}, {}, {}),
                    ContainsSubstring("attend: position keys or queries are (20, 11), expected 20 or more rows of"));
}
