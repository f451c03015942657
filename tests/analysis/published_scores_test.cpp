#include "../../analysis/predictions/published_scores.h"

#include <cmath>
#include <numbers>

#include "../../core/numbers/random.h"
#include "../catch.h"
#include "found_field.h"

using namespace headwave;

namespace {

RotaryTerm pairs_of_halves(Index channels) {
  RotaryOptions options;
  options.channels = channels;
  return RotaryTerm(options);
}

/// Vectors of (T, d) numbers with a mean.
Matrix32 drawn_vectors(Index tokens, Index channels, double mean, double spread, std::uint64_t seed) {
  Random random(seed);
  Matrix32 vectors(tokens, channels);
  for (float& entry : vectors.reshaped()) entry = static_cast<float>(mean + spread * random.normal());
  return vectors;
}

VectorScores scores_of(const Matrix32& vectors, Index d_head, const RotaryTerm* rotary, Index heads) {
  const Index own = vectors.cols() / d_head;
  VectorSums sums(own, d_head, rotary == nullptr ? 0 : rotary->options().channels / 2);
  set_vectors(sums, vectors, rotary, 0);
  return vector_scores(sums, {{0}, heads}, {rotary}, 5);
}

}  // namespace

TEST_CASE("the rank-one share is 1 of multiples of one vector, and even of a rotation", "[analysis]") {
  const Vector direction = (Vector(3) << 1, -2, 2).finished();
  const Vector sizes = (Vector(4) << 1, -3, 0.5, 2).finished();
  CHECK(rank_one_share(sizes * direction.transpose()) == Approx(1));
  CHECK(rank_one_share(Matrix::Identity(4, 4)) == Approx(0.25));
  Matrix page(2, 2);
  page << 3, 0, 0, 1;
  CHECK(rank_one_share(page) == Approx(0.9));
  CHECK(std::isnan(rank_one_share(Matrix::Zero(3, 2))));
}

TEST_CASE("a constant direction has resultant length 1, uniform phases have next to none", "[analysis]") {
  const RotaryTerm rotary = pairs_of_halves(4);
  const Index tokens = 2000;
  Random random(5);
  Matrix32 vectors(tokens, 6);
  for (Index n = 0; n < tokens; ++n) {
    // Pair 0, channels 0 and 2, keeps its direction whatever its size. Pair 1, channels 1 and 3, has any.
    const double size = 0.1 + random.uniform(), phase = 2 * std::numbers::pi * random.uniform();
    vectors.row(n) << static_cast<float>(3 * size), static_cast<float>(std::cos(phase)), static_cast<float>(-size),
        static_cast<float>(std::sin(phase)), 0.0F, 0.0F;
  }
  const VectorScores scores = scores_of(vectors, 6, &rotary, 1);
  REQUIRE(scores.pair_resultant_length.cols() == 2);
  CHECK(scores.pair_resultant_length(0, 0) == Approx(1));
  CHECK(scores.pair_resultant_length(0, 1) < 3 / std::sqrt(2000.0));
  CHECK(scores.resultant_length[0] > 0.5);
  CHECK(scores.resultant_length[0] < 1);
  CHECK(scores_of(Matrix32::Constant(10, 6, 2.0F), 6, &rotary, 1).resultant_length[0] == Approx(1));
  // A layer that turns nothing has no pairs.
  CHECK(scores_of(vectors, 6, nullptr, 1).pair_resultant_length.cols() == 0);
}

TEST_CASE("one planted massive channel is found, in the key head that heads share", "[analysis]") {
  const Index d_head = 16;
  Matrix32 keys = drawn_vectors(400, 2 * d_head, 0, 1, 9);
  keys.col(d_head + 11) *= 40.0F;
  const VectorScores scores = scores_of(keys, d_head, nullptr, 4);
  for (const Index head : {0, 1}) {
    CHECK(scores.massive_values[head] == 0);
    CHECK(scores.massive_ratio[head] == Approx(1).margin(0.2));
  }
  for (const Index head : {2, 3}) {
    CHECK(scores.massive_values[head] == 1);
    CHECK(scores.massive_channel[head] == 11);
    CHECK(scores.massive_ratio[head] == Approx(16 * 40.0 / 55).epsilon(0.05));
  }
}

TEST_CASE("vectors of documents add up, rank-one shares are means over them", "[analysis]") {
  const RotaryTerm rotary = pairs_of_halves(8);
  const Matrix32 first = drawn_vectors(50, 8, 1, 0.5, 1), second = drawn_vectors(50, 8, 1, 2, 2);
  VectorSums sums(1, 8, 4), one = sums, other = sums;
  set_vectors(one, first, &rotary, 0);
  set_vectors(other, second, &rotary, 0);
  add_to(sums, std::move(one));
  add_to(sums, std::move(other));
  Matrix32 all(100, 8);
  all << first, second;
  const VectorScores together = vector_scores(sums, {{0}, 1}, {&rotary}, 5), whole = scores_of(all, 8, &rotary, 1);
  CHECK(together.resultant_length[0] == Approx(whole.resultant_length[0]));
  CHECK(together.pair_resultant_length.isApprox(whole.pair_resultant_length));
  CHECK(together.massive_ratio[0] == Approx(whole.massive_ratio[0]));
  CHECK(together.rank_one_share[0] ==
        Approx(0.5 * (rank_one_share(first.cast<double>()) + rank_one_share(second.cast<double>()))));
}

TEST_CASE("the average slash score is the largest mean along a diagonal", "[analysis]") {
  PublishedScores scores;
  OffsetTraces traces;
  Matrix& weight = traces.weight[all_pairs];
  weight = Matrix(2, 9);                                  // |t| <= 4, of which 3 are searched
  weight << 0.9, 0.1, 0.1, 0.4, 0.2, 0.3, 0.1, 0.1, 0.9,  //
      0, 0, 0, 0.3, 0.3, 0.5, 0, 0, 0;
  set_slash_scores(scores, traces, 3, false);
  CHECK(scores.slash_score[0] == 0.4);
  CHECK(scores.slash_offset[0] == -1);
  CHECK(scores.slash_offset[1] == 1);
  set_slash_scores(scores, traces, 3, true);
  CHECK(scores.slash_score[1] == 0.3);
  CHECK(scores.slash_offset[1] == 0);
}

TEST_CASE("without rotary positions there is no resultant length of pairs", "[analysis]") {
  PublishedScores scores;
  scores.grid = {{0}, 1};
  scores.query = scores.key = scores_of(drawn_vectors(8, 4, 0, 1, 3), 4, nullptr, 1);
  scores.slash_score = scores.slash_offset = scores.swapped.positional = scores.swapped.symbolic = Vector::Zero(1);
  const std::vector<Field> fields = describe(scores);
  for (const Field& field : fields) CHECK(field.name != "published_scores/pair_resultant_length");
  CHECK(field_of(fields, "published_scores/rank_one_share").axes.front().name == "side");
  const RotaryTerm rotary = pairs_of_halves(4);
  scores.query = scores.key = scores_of(drawn_vectors(8, 4, 0, 1, 3), 4, &rotary, 1);
  scores.turns = true;
  CHECK(field_of(describe(scores), "published_scores/pair_resultant_length").size() == 4);
}
