#include "../../analysis/why/position_atlas.h"

#include <cmath>

#include "../../analysis/statistics/false_discovery.h"
#include "../../core/algebra/decompositions.h"
#include "../../core/attention/position_term.h"
#include "../../core/numbers/random.h"
#include "../../core/planted/planted.h"
#include "../catch.h"
#include "../test_numbers.h"
#include "found_field.h"

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

/// The Fields of an atlas, by head.
struct Atlas {
  std::vector<Field> fields;
  Atlas(const Stack& stack, const PositionAtlasOptions& options = {}) : fields(position_atlas(stack, options)) {}

  [[nodiscard]] Vector numbers(const std::string& name) const {
    const auto& all = field_of(fields, "position_atlas/" + name).doubles();
    return Eigen::Map<const Vector>(all.data(), std::ssize(all));
  }
  [[nodiscard]] double operator()(const std::string& name, Index row) const { return numbers(name)[row]; }
  [[nodiscard]] Vector kernel(Index row) const {
    const Index width = 2 * reach() + 1;
    return numbers("kernel").segment(row * width, width);
  }
  [[nodiscard]] PredictedStatus status(Index row) const {
    const auto& all = std::get<std::vector<std::uint8_t>>(field_of(fields, "position_atlas/status").values);
    return static_cast<PredictedStatus>(all[static_cast<std::size_t>(row)]);
  }
  [[nodiscard]] Index reach() const { return about("reach"); }
  [[nodiscard]] Index about(const char* name) const {
    return std::get<std::int64_t>(fields.front().attributes.at(name));
  }
  [[nodiscard]] Index rows() const { return numbers("predicted_offset").size(); }
};

}  // namespace

TEST_CASE("the position kernel is the diagonal means of the whole matrix, at any length") {
  for (const Index length : {1, 2, 3, 7, 16, 31}) {
    CAPTURE(length);
    const Matrix positions = random_matrix(length, 6, 1);
    const HeadWeights head = random_head(6, 3, 2);
    const PositionKernel found = position_kernel(positions, head, {positions, 3, 5});
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
  CHECK(std::isnan(position_kernel(same, head, {same, 3, 40}).toeplitz_r2));
  head.key.setZero();
  const Matrix positions = random_matrix(9, 6, 1);
  const PositionKernel none = position_kernel(positions, head, {positions, 3, 40});
  CHECK(std::isnan(none.toeplitz_r2));
  CHECK(none.null_other_r2.size() == 0);
  CHECK(none.kernel.cwiseAbs().maxCoeff() == 0);
}

TEST_CASE("a kernel is refused of what is not finite") {
  const HeadWeights head = random_head(6, 3, 2);
  Matrix broken = random_matrix(9, 6, 1);
  broken(4, 2) = std::nan("");
  CHECK_THROWS_WITH(position_kernel(broken, head, {random_matrix(9, 6, 1), 3, 2}),
                    ContainsSubstring("a Fourier transform: an entry is not finite"));
}

TEST_CASE("a change of basis inside the head changes nothing") {
  const Matrix positions = random_matrix(24, 8, 3);
  HeadWeights head = random_head(8, 4, 4);
  const PositionNull none(positions, 4, 0);
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
  const Atlas atlas(planted.model.stack);
  CHECK(atlas.about("length") == 512);
  Index row = 0, positional = 0;
  for (const auto& layer : planted.spec.heads)
    for (const PlantedHead& head : layer) {
      CAPTURE(row, name_of(head.kind));
      if (head.positional()) {
        ++positional;
        CHECK(atlas("predicted_offset", row) == head.offset);
        // Exactly Toeplitz before row means are taken away; over 512 positions these are small.
        CHECK(atlas("toeplitz_r2", row) > 0.99);
        CHECK(atlas("other_r2", row) > atlas("other_null_quantile", row));
      } else if (head.kind == PlantedKind::content) {
        CHECK(atlas("predicted_offset", row) == 0);  // every word finds itself, and nothing but its word
        CHECK(atlas("own_token_term", row) > 0.9 * atlas.kernel(row)[atlas.reach()]);
      } else {
        CHECK(std::isnan(atlas("predicted_offset", row)));
      }
      ++row;
    }
  CHECK(positional >= 8);
  // Threads change no digit.
  const Vector all = atlas.numbers("other_null_quantile"),
               single = Atlas(planted.model.stack, {.threads = 1}).numbers("other_null_quantile");
  for (Index i = 0; i < single.size(); ++i)
    CHECK((single[i] == all[i] || (std::isnan(single[i]) && std::isnan(all[i]))));
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
  const Atlas atlas(stack, {.draws = 0});
  CHECK(atlas("own_token_term", 0) == 0.5);
  const Vector expected = (Vector(5) << -2, -0.75, 1.0 / 3 + 0.5, 0.75, 1).finished();
  CHECK((atlas.kernel(0) - expected).cwiseAbs().maxCoeff() < 1e-6);
  CHECK(atlas.status(0) == PredictedStatus::edge);
  stack.embedding.words = {};
  CHECK(Atlas(stack, {.draws = 0})("own_token_term", 0) == 0);
}

TEST_CASE("a kernel that rises to the end of the search predicts nothing: undefined (edge), at every reach") {
  // Slow waves with their delay 40 tokens away: what lies nearer is a flank.
  PlantedSpec spec = planted_bank();
  const PlantedModel planted = planted_model(spec);
  Stack stack = planted.model.stack;
  const Vector all = Atlas(stack).numbers("predicted_offset");
  for (const Index reach : {3, 5}) {
    CAPTURE(reach);
    const Atlas cut(stack, {.reach = reach});
    Index at_edge = 0;
    for (Index row = 0; row < cut.rows(); ++row) {
      const double t = all[row];
      CAPTURE(row, t);
      const PredictedStatus status = cut.status(row);
      if (std::isnan(t)) continue;
      if (std::abs(t) < static_cast<double>(reach)) {
        CHECK(status == PredictedStatus::offset);
        CHECK(cut("predicted_offset", row) == t);
      } else if (status == PredictedStatus::edge) {
        ++at_edge;
        CHECK(std::isnan(cut("predicted_offset", row)));
        CHECK(std::isnan(cut("estimate", row)));
      } else {
        // The kernel may have an alias within the search, but never does its cut-off pass for a peak.
        CHECK(std::abs(cut("estimate", row)) < static_cast<double>(reach));
      }
    }
    CHECK(at_edge >= 1);
  }
}

TEST_CASE("what a kernel predicts is worth its weight: a flat one is told from chance, and still predicts nothing") {
  const PlantedModel planted = planted_model(planted_bank());
  Stack stack = planted.model.stack;
  const Atlas plain(stack);
  const Vector offset = plain.numbers("predicted_offset");
  for (Index row = 0; row < offset.size(); ++row) {
    if (std::isnan(offset[row])) continue;
    const Vector kernel = plain.kernel(row);
    const Index at = static_cast<Index>(offset[row]) + plain.reach();
    CHECK(plain("predicted_weight", row) == Approx(std::exp(kernel[at]) / kernel.array().exp().sum()));
    CHECK(plain("chance", row) == Approx(1.0 / 129));
  }
  stack.block.score_scale *= 1e-3;
  const Atlas faint(stack);
  for (Index row = 0; row < offset.size(); ++row) {
    if (std::isnan(offset[row])) continue;
    CHECK((faint("q_value", row) == plain("q_value", row) || std::isnan(plain("q_value", row))));
    CHECK(faint.status(row) == PredictedStatus::weak);
    CHECK(std::isnan(faint("predicted_offset", row)));
    CHECK(faint("estimate", row) == offset[row]);
    CHECK(faint("predicted_weight", row) < 1.1 / 129);
  }
  stack.block.causal = true;
  CHECK(Atlas(stack)("chance", 1) == Approx(1.0 / 65));
}

TEST_CASE("models without a position table have no atlas, and say so, their term has a kernel") {
  Stack stack;
  stack.block.heads = 2;
  stack.blocks.resize(3);
  RotaryOptions rotary;
  rotary.channels = 8;
  stack.position_term = {.turned = std::make_shared<RotaryTerm>(rotary)};
  const std::vector<Field> fields = position_atlas(stack, {.reach = 5});
  REQUIRE(fields.size() == 3);
  CHECK(fields[0].size() == 0);  // no projections are known either
  CHECK(std::get<std::string>(fields[0].attributes.at("undefined")) == "no position table");
  const Field& term = field_of(fields, "position_term/kernel");
  CHECK(term.size() == 22);
  CHECK(term.doubles()[5] == 1);
  stack.position_term = {};
  CHECK(position_atlas(stack).size() == 2);
}
