#include "../../analysis/why/position_atlas.h"

#include <cmath>

#include "../../core/algebra/decompositions.h"
#include "../../core/attention/position_term.h"
#include "../../core/numbers/random.h"
#include "../../core/planted/planted.h"
#include "../catch.h"
#include "../test_numbers.h"

using namespace headwave;

namespace {

HeadWeights random_head(Index d_model, Index d_head, std::uint64_t seed) {
  return {random_matrix(d_model, d_head, seed), random_matrix(d_model, d_head, seed + 1),
          random_matrix(d_head, 1, seed + 2)};
}

/// F of equation (1), entry by entry.
Matrix centred_scores(const Matrix& positions, const HeadWeights& head, bool bias) {
  Matrix scores(positions.rows(), positions.rows());
  for (Index i = 0; i < scores.rows(); ++i)
    for (Index j = 0; j < scores.cols(); ++j) {
      Eigen::RowVectorXd query = positions.row(i) * head.query;
      if (bias) query += head.query_bias.transpose();
      scores(i, j) = query.dot(positions.row(j) * head.key);
    }
  for (Index i = 0; i < scores.rows(); ++i) scores.row(i).array() -= scores.row(i).mean();
  return scores;
}

}  // namespace

TEST_CASE("the position kernel is the diagonal means of the whole matrix, at any length") {
  for (const Index length : {1, 2, 3, 7, 16, 31}) {
    CAPTURE(length);
    const Matrix positions = random_matrix(length, 6, 1);
    const HeadWeights head = random_head(6, 3, 2);
    const PositionKernel found = position_kernel(positions, head, {positions, 3, {.draws = 5}});
    const Matrix scores = centred_scores(positions, head, false);
    const double size = scores.norm() + 1e-300;
    Matrix toeplitz(length, length);
    for (Index t = 1 - length; t < length; ++t) {
      const double mean = scores.diagonal(t).mean();
      CHECK(found.kernel[t + length - 1] == Approx(mean).margin(64 * 2.3e-16 * size * static_cast<double>(length)));
      toeplitz.diagonal(t).setConstant(mean);
    }
    if (length == 1) {
      CHECK(std::isnan(found.toeplitz_r2));  // one position: its row without its mean is nothing
      continue;
    }
    CHECK(found.toeplitz_r2 == Approx(1 - (scores - toeplitz).squaredNorm() / scores.squaredNorm()).epsilon(1e-10));
    const Matrix with_bias = centred_scores(positions, head, true);
    for (Index t = 1 - length; t < length; ++t)
      CHECK(found.with_bias[t + length - 1] ==
            Approx(with_bias.diagonal(t).mean()).margin(64 * 2.3e-16 * with_bias.norm() * static_cast<double>(length)));
    CHECK(found.null_other_r2.size() == 5);
    CHECK(found.null_other_r2.minCoeff() >= 0);
    CHECK(found.null_other_r2.maxCoeff() <= 1 + 1e-12);
  }
}

TEST_CASE("a head of zeros, and positions that are all the same, have no kernel share") {
  HeadWeights head = random_head(6, 3, 2);
  const Matrix same = Matrix::Ones(9, 6);
  CHECK(std::isnan(position_kernel(same, head, {same, 3}).toeplitz_r2));
  head.key.setZero();
  const Matrix positions = random_matrix(9, 6, 1);
  const PositionKernel none = position_kernel(positions, head, {positions, 3});
  CHECK(std::isnan(none.toeplitz_r2));
  CHECK(none.null_other_r2.size() == 0);
  CHECK(none.kernel.cwiseAbs().maxCoeff() == 0);
}

TEST_CASE("a kernel is refused of positions, weights and a null that do not fit, and of what is not finite") {
  const HeadWeights head = random_head(6, 3, 2);
  const Matrix positions = random_matrix(9, 6, 1);
  const PositionNull null(positions, 3, {.draws = 2});
  CHECK(position_kernel(positions, head, null).kernel.size() == 17);
  CHECK_THROWS_AS(position_kernel(random_matrix(9, 5, 1), head, null), ShapeError);
  CHECK_THROWS_AS(position_kernel(Matrix(0, 6), head, {positions, 3, {.draws = 0}}), ShapeError);
  CHECK_THROWS_AS(position_kernel(random_matrix(8, 6, 1), head, null), ShapeError);
  CHECK_THROWS_WITH(position_kernel(positions, head, {positions, 4, {.draws = 2}}), ContainsSubstring("a null of"));
  CHECK_THROWS_WITH(PositionNull(positions, 7), ContainsSubstring("heads of width 7 in states of width 6"));
  Matrix broken = positions;
  broken(4, 2) = std::nan("");
  CHECK_THROWS_AS(position_kernel(broken, head, null), NumericError);
}

TEST_CASE("a change of basis inside the head changes nothing") {
  const Matrix positions = random_matrix(24, 8, 3);
  HeadWeights head = random_head(8, 4, 4);
  const PositionNull none(positions, 4, {.draws = 0});
  const PositionKernel before = position_kernel(positions, head, none);
  Random random(9);
  const Matrix turn = random_frame(4, 4, random);
  const Vector stretch{{0.5, 1, 2, 3}};  // G = turn diag(stretch), so G^-T = turn / diag(stretch)
  head.query = (head.query * turn * stretch.asDiagonal()).eval();
  head.key = (head.key * turn * stretch.cwiseInverse().asDiagonal()).eval();
  head.query_bias.setZero();
  const PositionKernel after = position_kernel(positions, head, none);
  CHECK(after.toeplitz_r2 == Approx(before.toeplitz_r2).epsilon(1e-9));
  CHECK((after.kernel - before.kernel).cwiseAbs().maxCoeff() < 1e-9 * before.kernel.cwiseAbs().maxCoeff());
}

TEST_CASE("the atlas of the planted bank predicts every planted offset, from the weights alone") {
  const PlantedModel planted = planted_model(planted_bank());
  const PositionAtlas atlas = position_atlas(planted.model.stack);
  REQUIRE(atlas.undefined.empty());
  CHECK(atlas.length == 512);
  Index row = 0, positional = 0;
  for (const auto& layer : planted.spec.heads)
    for (const PlantedHead& head : layer) {
      CAPTURE(row, name_of(head.kind));
      if (head.positional()) {
        ++positional;
        CHECK(atlas.offset[row] == head.offset);
        // Exactly Toeplitz before row means are taken away; over 512 positions these are small.
        CHECK(atlas.toeplitz_r2[row] > 0.99);
        CHECK(atlas.other_r2[row] > atlas.other_null_quantile[row]);
      } else if (head.kind == PlantedKind::content) {
        CHECK(atlas.offset[row] == 0);  // every word finds itself, and nothing but its word
        CHECK(atlas.own_token_term[row] > 0.9 * atlas.kernel(row, atlas.reach));
      } else {
        CHECK(std::isnan(atlas.offset[row]));
      }
      ++row;
    }
  CHECK(positional >= 8);
  // Threads change no digit.
  PositionAtlasOptions one;
  one.threads = 1;
  const Vector single = position_atlas(planted.model.stack, one).other_null_quantile;
  for (Index i = 0; i < single.size(); ++i)
    CHECK((single[i] == atlas.other_null_quantile[i] ||
           (std::isnan(single[i]) && std::isnan(atlas.other_null_quantile[i]))));
}

TEST_CASE("two words and three positions, on the page: the kernel with b_Q, and what a word adds to itself") {
  const Matrix32 words = (Matrix32(2, 2) << 1, 0, -1, 0).finished();
  const Matrix32 positions = (Matrix32(3, 2) << 0, 0, 0, 1, 0, 2).finished();
  const Matrix32 identity = Matrix32::Identity(2, 2);
  const Vector32 bias = (Vector32(2) << 0, 2).finished();
  Stack stack;
  stack.block.heads = stack.block.kv_heads = 1;
  stack.block.d_head = 2;
  stack.block.score_scale = 0.5;
  stack.embedding.words = words;
  stack.embedding.positions = positions;
  stack.blocks.resize(1);
  stack.blocks[0].self.query = {identity, bias};
  stack.blocks[0].self.key = {identity, {}};
  // Words average to nothing, so positions are themselves: scores (i + 2) j, less their row means (i + 2)(j - 1).
  // Diagonal 0: (-2 + 0 + 4) / 3; 1: (0 + 3) / 2; 2: 2; -1: (-3 + 0) / 2; -2: -4. The words' covariance is diag(1, 0).
  PositionAtlasOptions options;
  options.null.draws = 0;
  const PositionAtlas atlas = position_atlas(stack, options);
  CHECK(atlas.own_token_term[0] == 0.5);
  const Vector expected = (Vector(5) << -2, -0.75, 1.0 / 3 + 0.5, 0.75, 1).finished();
  CHECK((atlas.kernel.row(0).transpose() - expected).cwiseAbs().maxCoeff() < 1e-6);
  CHECK(atlas.status[0] == PredictedStatus::edge);
  stack.embedding.words = {};
  CHECK(position_atlas(stack, options).own_token_term[0] == 0);
}

TEST_CASE("a kernel that rises to the end of the search predicts nothing: undefined (edge), at every reach") {
  // Slow waves with their delay 40 tokens away: what lies nearer is a flank.
  PlantedSpec spec = planted_bank();
  const PlantedModel planted = planted_model(spec);
  Stack stack = planted.model.stack;
  const PositionAtlas all = position_atlas(stack);
  for (const Index reach : {3, 5}) {
    CAPTURE(reach);
    PositionAtlasOptions options;
    options.reach = reach;
    const PositionAtlas cut = position_atlas(stack, options);
    Index at_edge = 0;
    for (Index row = 0; row < cut.grid.rows(); ++row) {
      CAPTURE(row, all.offset[row]);
      const double t = all.offset[row];
      const PredictedStatus status = cut.status[static_cast<std::size_t>(row)];
      if (std::isnan(t)) continue;
      if (std::abs(t) < static_cast<double>(reach)) {
        CHECK(status == PredictedStatus::offset);
        CHECK(cut.offset[row] == t);
      } else if (status == PredictedStatus::edge) {
        ++at_edge;
        CHECK(std::isnan(cut.offset[row]));
        CHECK(std::isnan(cut.estimate[row]));
      } else {
        // The kernel may have an alias within the search, but never does its cut-off pass for a peak.
        CHECK(std::abs(cut.estimate[row]) < static_cast<double>(reach));
      }
    }
    CHECK(at_edge >= 1);
  }
}

TEST_CASE("what a kernel predicts is worth its weight: a flat one is told from chance, and still predicts nothing") {
  const PlantedModel planted = planted_model(planted_bank());
  Stack stack = planted.model.stack;
  const PositionAtlas plain = position_atlas(stack);
  for (Index row = 0; row < plain.grid.rows(); ++row) {
    if (std::isnan(plain.offset[row])) continue;
    const Vector kernel = plain.kernel.row(row).transpose();
    const Index at = static_cast<Index>(plain.offset[row]) + plain.reach;
    CHECK(plain.weight[row] == Approx(std::exp(kernel[at]) / kernel.array().exp().sum()));
    CHECK(plain.chance[row] == Approx(1.0 / 129));
  }
  stack.block.score_scale *= 1e-3;
  const PositionAtlas faint = position_atlas(stack);
  for (Index row = 0; row < plain.grid.rows(); ++row) {
    if (std::isnan(plain.offset[row])) continue;
    CHECK((faint.q_value[row] == plain.q_value[row] || std::isnan(plain.q_value[row])));
    CHECK(faint.status[static_cast<std::size_t>(row)] == PredictedStatus::weak);
    CHECK(std::isnan(faint.offset[row]));
    CHECK(faint.estimate[row] == plain.offset[row]);
    CHECK(faint.weight[row] < 1.1 / 129);
  }
  stack.block.causal = true;
  CHECK(position_atlas(stack).chance[1] == Approx(1.0 / 65));
}

TEST_CASE("models without a position table have no atlas, and say so, their term has a kernel") {
  Stack stack;
  stack.block.heads = 2;
  stack.blocks.resize(3);
  RotaryOptions rotary;
  rotary.channels = 8;
  stack.position_term = {.turned = std::make_shared<RotaryTerm>(rotary)};
  const PositionAtlas atlas = position_atlas(stack);
  CHECK(atlas.undefined == "no position table");
  const std::vector<Field> fields = describe(atlas);
  REQUIRE(fields.size() == 2);
  CHECK(fields[0].size() == 0);  // no projections are known either
  CHECK(std::get<std::string>(fields[0].attributes.at("undefined")) == "no position table");
  const std::vector<Field> term = position_term_fields(stack, 5);
  REQUIRE(term.size() == 1);
  CHECK(term[0].size() == 22);
  CHECK(term[0].doubles()[5] == 1);
  stack.position_term = {};
  CHECK(position_term_fields(stack, 5).empty());
}
