#include "../../core/model/layer.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "../../core/model/layer_positions.h"
#include "../../core/model/model_pass.h"
#include "../../core/numbers/random.h"
#include "../catch.h"

using namespace headwave;

namespace {

const Matrix32 three_by_two = Matrix32::Ones(3, 2);
const Matrix32 two_by_three = Matrix32::Ones(2, 3);
const Vector32 ones = Vector32::Ones(3);

}  // namespace

TEST_CASE("a view looks at rows that are apart, and refuses entries of a row that are") {
  const Matrix matrix = Matrix::Random(4, 6);
  CHECK(MatrixView(matrix.middleCols(1, 3)) == matrix.middleCols(1, 3));
  const Eigen::Map<const Matrix, Eigen::Unaligned, Eigen::Stride<Eigen::Dynamic, 2>> every_second(
      matrix.data(), 4, 3, Eigen::Stride<Eigen::Dynamic, 2>(6, 2));
  CHECK_THROWS_WITH(MatrixView(every_second),
                    ContainsSubstring("MatrixView: the entries of a row must be side by side"));
  CHECK_THROWS_WITH(MatrixView(every_second), ContainsSubstring("side by side"));
}

TEST_CASE("a linear map and a norm refuse states of another width") {
  CHECK(linear(two_by_three, {two_by_three, {}}) == Matrix32::Constant(2, 2, 3.0F));
  CHECK_THROWS_WITH(linear(two_by_three, {three_by_two, {}}), ContainsSubstring("width 3, but the weights expect 2"));
  Matrix32 states = three_by_two;
  CHECK_THROWS_WITH(normalise(states, {ones, {}}),
                    ContainsSubstring("normalise: states have width 2, but the norm has width 3"));
  CHECK_THROWS_WITH(normalise(states, {ones, {}}), ContainsSubstring("width 2, but the norm has width 3"));
  Matrix32 wide = two_by_three;
  const Vector32 short_shift = Vector32::Ones(2);
  CHECK_THROWS_WITH(normalise(wide, {ones, short_shift}), ContainsSubstring("width 3, but the norm has width 2"));
  normalise(states, {});
  CHECK(states == three_by_two);
}

TEST_CASE("a feed-forward layer refuses states, and inner layers, of another width") {
  const FeedForward fits{{two_by_three, {}}, {}, {three_by_two, {}}};
  CHECK(feed_forward(two_by_three, fits, Activation::relu) == Matrix32::Constant(2, 3, 6.0F));
  CHECK_THROWS_WITH(feed_forward(three_by_two, fits, Activation::relu),
                    ContainsSubstring("linear: states have width 2, but the weights expect 3"));
  CHECK_THROWS_AS(feed_forward(two_by_three, {{two_by_three, {}}, {}, {two_by_three, {}}}, Activation::relu),
                  ShapeError);
  CHECK_THROWS_AS(
      feed_forward(two_by_three, {{three_by_two, {}}, {two_by_three, {}}, {three_by_two, {}}}, Activation::silu),
      ShapeError);
}

TEST_CASE("a feed-forward layer gives every row what it gives it alone, however many there are") {
  const Matrix32 x = Matrix32::Random(2 * rows_at_once + 70, 8), gate = Matrix32::Random(20, 8),
                 widen = Matrix32::Random(20, 8), narrow = Matrix32::Random(8, 20);
  const Vector32 bias = Vector32::Random(8);
  for (const Linear& gated : {Linear{}, Linear{gate, {}}}) {
    const FeedForward weights{{widen, {}}, gated, {narrow, bias}};
    const Matrix32 all = feed_forward(x, weights, Activation::gelu);
    REQUIRE(all.rows() == x.rows());
    for (const Index row : {Index{0}, rows_at_once - 1, rows_at_once, 2 * rows_at_once, x.rows() - 1})
      CHECK((all.row(row) - feed_forward(x.middleRows(row, 1), weights, Activation::gelu)).cwiseAbs().maxCoeff() <
            1e-5F);
  }
  CHECK(feed_forward(Matrix32(0, 8), {{widen, {}}, {}, {narrow, {}}}, Activation::relu).rows() == 0);
}

TEST_CASE("a clipped gate is what its equation says") {
  Matrix32 x(3, 1), gate(1, 1), widen(1, 1), narrow(1, 1);
  x << 1, 10, -10;
  gate << 2;
  widen << 3;
  narrow << 1;
  const FeedForward weights{{widen, {}}, {gate, {}}, {narrow, {}}};
  const Matrix32 y = feed_forward(x, weights, Activation::silu, {.limit = 7, .slope = 1.702F});
  // (clip(u) + 1) g / (1 + exp(-1.702 g)): g = 2 and u = 3; then 7 and 7; then -20 and -7.
  CHECK(y(0, 0) == Approx(4 * 2 / (1 + std::exp(-1.702 * 2))).epsilon(1e-6));
  CHECK(y(1, 0) == Approx(8 * 7 / (1 + std::exp(-1.702 * 7))).epsilon(1e-6));
  CHECK(y(2, 0) == Approx(-6 * -20 / (1 + std::exp(1.702 * 20))).epsilon(1e-6));
}

TEST_CASE("a token chooses its experts by their scores, by hand") {
  Matrix32 r(1, 4);
  r << 0, std::log(2.0F), std::log(4.0F), 0;
  // softmax: 1/8, 2/8, 4/8, 1/8.
  RouterSpec router{.chosen = 2};
  Chosen chosen = chosen_experts(r, {}, router);
  CHECK(chosen.expert == std::vector<Index>{2, 1});
  CHECK(chosen.weight[0] == Approx(0.5));
  CHECK(chosen.weight[1] == Approx(0.25));
  router.normalised = true;
  router.scale = 3;
  chosen = chosen_experts(r, {}, router);
  CHECK(chosen.weight[0] == Approx(2.0));
  CHECK(chosen.weight[1] == Approx(1.0));
  router = {.chosen = 2, .score = RouterScore::softmax_of_chosen};
  CHECK(chosen_experts(r, {}, router).weight[0] == Approx(2.0 / 3));
  router.score = RouterScore::sigmoid;
  CHECK(chosen_experts(r, {}, router).weight[0] == Approx(0.8));
  // Of experts of one worth the first is chosen.
  router.chosen = 3;
  CHECK(chosen_experts(r, {}, router).expert == std::vector<Index>{2, 1, 0});
}

TEST_CASE("a correction counts while experts are chosen and not after, and groups are chosen before experts") {
  Matrix32 r(1, 6);
  r << 3, -4, 1, 2, 0, 2.5F;
  RouterSpec router{.chosen = 1, .score = RouterScore::sigmoid};
  Vector32 correction = Vector32::Zero(6);
  correction[4] = 1;
  const Chosen corrected = chosen_experts(r, correction, router);
  CHECK(corrected.expert == std::vector<Index>{4});
  CHECK(corrected.weight[0] == Approx(0.5));
  // Groups (3, -4), (1, 2), (0, 2.5): the first has the best expert, the second the best two.
  router.groups = 3;
  CHECK(chosen_experts(r, {}, router).expert == std::vector<Index>{0});
  router.worth = GroupWorth::best_two;
  CHECK(chosen_experts(r, {}, router).expert == std::vector<Index>{3});
  router.chosen_groups = 2;
  router.chosen = 3;
  CHECK(chosen_experts(r, {}, router).expert == std::vector<Index>{5, 3, 2});
}

TEST_CASE("tokens pass through the experts that they chose and no others, beside the shared one") {
  const Index tokens = 40, d = 6, wide = 5;
  const Matrix32 x = Matrix32::Random(tokens, d), router = Matrix32::Random(5, d), share = Matrix32::Random(1, d);
  std::vector<Matrix32> kept;
  const auto random_linear = [&](Index out, Index in) {
    return Linear{kept.emplace_back(Matrix32::Random(out, in)), {}};
  };
  kept.reserve(100);
  BlockSpec spec;
  spec.activation = Activation::silu;
  spec.router = {.chosen = 2, .normalised = true};
  Block block;
  block.feed_forward = {random_linear(wide, d), random_linear(wide, d), random_linear(d, wide)};
  block.mixture.router = {router, {}};
  block.mixture.shared_weight = {share, {}};
  for (int e = 0; e < 5; ++e)
    block.mixture.experts.push_back({random_linear(wide, d), random_linear(wide, d), random_linear(d, wide)});
  for (const bool weighs_input : {false, true}) {
    spec.router.weighs_input = weighs_input;
    const Matrix32 y = feed_forward(x, block, spec);
    const Chosen chosen = chosen_experts(linear(x, block.mixture.router), {}, spec.router);
    for (Index i = 0; i < tokens; ++i) {
      const Matrix32 token = x.middleRows(i, 1);
      const float part = 1 / (1 + std::exp(-linear(token, block.mixture.shared_weight)(0, 0)));
      Matrix32 expected = part * feed_forward(token, block.feed_forward, spec.activation);
      for (std::size_t k = 0; k < 2; ++k) {
        const auto at = static_cast<std::size_t>(2 * i) + k;
        const FeedForward& expert = block.mixture.experts[static_cast<std::size_t>(chosen.expert[at])];
        const float weight = chosen.weight[at];
        if (weighs_input)
          expected += feed_forward(Matrix32(weight * token), expert, spec.activation);
        else
          expected += weight * feed_forward(token, expert, spec.activation);
      }
      CHECK((y.row(i) - expected.row(0)).cwiseAbs().maxCoeff() <= 1e-5F);
    }
    // An expert that nobody chose is not looked at.
    Block fewer = block;
    for (std::size_t e = 0; e < 5; ++e)
      if (std::find(chosen.expert.begin(), chosen.expert.end(), static_cast<Index>(e)) == chosen.expert.end())
        fewer.mixture.experts[e] = {};
    CHECK(feed_forward(x, fewer, spec) == y);
    CHECK(feed_forward(x.middleRows(0, 1), fewer, spec).rows() == 1);
  }
  CHECK(feed_forward(Matrix32(0, d), block, spec).rows() == 0);
}

TEST_CASE("what a layer would see of positions is refused of a layer that is not there") {
  Stack stack;
  stack.blocks.resize(2);
  CHECK(layer_positions(stack, 1).size() == 0);
  for (const Index layer : {-1, 2}) {
    CHECK_THROWS_WITH(layer_positions(stack, layer), ContainsSubstring("among 2 layers (counted from 0)"));
  }
  CHECK_THROWS_WITH(layer_positions(stack, 2), ContainsSubstring("there is no layer 2 among 2"));
}

TEST_CASE("scores of queries that are scaled by their position are not bilinear in the states") {
  Stack stack;
  CHECK(not_bilinear(stack).empty());
  stack.others.layers = {0};
  stack.others.temperature.strength = 0.1;
  CHECK_THAT(not_bilinear(stack), ContainsSubstring("scaled by their position"));
}

TEST_CASE("a sequence of words is refused where one is outside the vocabulary") {
  Model model;
  model.family = "tiny";
  model.stack.embedding.words = three_by_two;
  Document document;
  document.ids = {2, 0};
  CHECK(word_sequence(model, document) == Matrix32::Ones(2, 2));
  for (const std::int32_t id : {3, -1}) {
    document.ids = {2, id};
    CHECK_THROWS_WITH(word_sequence(model, document), ContainsSubstring("outside the vocabulary of 3 tokens"));
  }
  document.ids = {3};
  CHECK_THROWS_WITH(word_sequence(model, document), ContainsSubstring("id 3, outside the vocabulary of 3 tokens"));
}

TEST_CASE("rows that a norm made are told from others, whatever they were made of") {
  Random random(11);
  Matrix32 x(40, 16);
  for (float& value : x.reshaped()) value = static_cast<float>(3 + 5 * random.normal());
  Vector32 scale(16), shift(16);
  for (Index i = 0; i < 16; ++i) {
    scale(i) = 0.2F + 0.1F * static_cast<float>(i);
    shift(i) = static_cast<float>(random.normal());
  }
  for (const NormKind kind : {NormKind::layer, NormKind::rms}) {
    Norm norm{scale, {}, 1e-5F, kind};
    if (kind == NormKind::layer) norm.shift = shift;
    CHECK(share_from_norm(x, norm) == 0);
    Matrix32 made = x;
    normalise(made, norm);
    CHECK(share_from_norm(made, norm) == 1);
    CHECK(share_from_norm(made.cast<Eigen::half>().cast<float>().eval(), norm) == 1);
    made.topRows(10) = x.topRows(10);
    CHECK(share_from_norm(made, norm) == 0.75);
    CHECK_THROWS_WITH(share_from_norm(x.leftCols(8).eval(), norm),
                      ContainsSubstring("normalise: states have width 8, but the norm has width 16"));
  }
  CHECK(share_from_norm(x, {}) == 1);
  scale(3) = 0;
  CHECK(share_from_norm(x, {scale, {}, 1e-5F, NormKind::rms}) == 1);
}
