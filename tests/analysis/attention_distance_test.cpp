#include "../../analysis/attention/attention_distance.h"

#include <cmath>
#include <vector>

#include "../catch.h"
#include "test_pass.h"

using namespace headwave;
using Catch::Matchers::WithinAbs;

namespace {

/// Two layers of two heads, over distances 0, 1, [2, 3], [4, 7], in blocks of which each is one of these.
DistanceSum sum_of(const std::vector<std::vector<double>>& regular, double apart) {
  DistanceSum sum;
  sum.bins = {{0, 1, 2, 4}, {0, 1, 3, 7}};
  sum.pairs = Matrix::Constant(1, 4, 10);
  sum.pairs(0, 3) = 0;
  for (const std::vector<double>& block : regular) {
    Matrix weights(2, 4);
    weights.row(0) = Eigen::Map<const Vector>(block.data(), 4).transpose();
    weights.row(1) = weights.row(0).reverse();
    Matrix pairs = Matrix::Constant(1, 4, 2);
    pairs(0, 3) = 0;
    sum.blocks.push_back({weights, pairs, weights.rowwise().sum().array() + apart});
    add_to(sum.weight, std::move(weights));
  }
  return sum;
}

/// Entry of a quantity, head by head.
double distance_number(const std::vector<Field>& fields, const std::string& quantity, std::size_t at = 0) {
  return field_of(fields, "attention_distance/" + quantity).doubles()[at];
}

}  // namespace

TEST_CASE("windows hold their share of what regular pairs and tokens apart get") {
  const std::vector<Field> found = attention_distances(sum_of({{4, 2, 2, 0}}, 2), {{0}, 2}, 1);
  // Of 10, 2 are apart: 90 % are 7 of the regular ones, halfway through the bin [2, 3].
  CHECK_THAT(distance_number(found, "window_90"), WithinAbs(3, 1e-9));
  CHECK_THAT(distance_number(found, "window_95"), WithinAbs(3.5, 1e-9));
  // The other head has 2 in [2, 3], 4 in [4, 7], 2 at 1.
  CHECK_THAT(distance_number(found, "window_90", 1), WithinAbs(7, 1e-9));
  CHECK(std::isnan(distance_number(found, "window_90_error")));
  CHECK_THAT(distance_number(found, "key_head_window_90"), WithinAbs(7, 1e-9));
  CHECK_THAT(distance_number(found, "apart"), WithinAbs(0.2, 1e-12));
  CHECK(std::isnan(distance_number(found, "apart_error")));
  CHECK_THROWS_WITH(distance_number(found, "distant"), ContainsSubstring("no field attention_distance/distant"));
  const std::vector<double> held{0.6, 0.8, 1, 1};
  for (std::size_t bin = 0; bin < 4; ++bin)
    CHECK_THAT(distance_number(found, "held", bin), WithinAbs(held[bin], 1e-12));
  CHECK_THAT(distance_number(found, "weight"), WithinAbs(0.4, 1e-12));
  CHECK(std::isnan(distance_number(found, "weight", 3)));
}

TEST_CASE("what is apart may hold a share by itself") {
  const std::vector<Field> found = attention_distances(sum_of({{1, 0, 0, 0}}, 99), {{0}, 2}, 2);
  CHECK(distance_number(found, "window_90") == 0);
  CHECK_THAT(distance_number(found, "window_99"), WithinAbs(0, 1e-9));
}

TEST_CASE("errors of windows leave out one block at a time") {
  const std::vector<std::vector<double>> blocks{{4, 2, 2, 0}, {2, 2, 4, 0}, {4, 4, 0, 0}};
  const std::vector<Field> found = attention_distances(sum_of(blocks, 2), {{0}, 2}, 2);
  std::vector<double> without;
  for (std::size_t left_out = 0; left_out < 3; ++left_out) {
    std::vector<std::vector<double>> others = blocks;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(left_out));
    without.push_back(distance_number(attention_distances(sum_of(others, 2), {{0}, 2}, 2), "window_90"));
  }
  const double mean = (without[0] + without[1] + without[2]) / 3;
  double squares = 0;
  for (const double one : without) squares += (one - mean) * (one - mean);
  CHECK(squares > 0);
  CHECK_THAT(distance_number(found, "window_90_error"), WithinAbs(std::sqrt(squares * 2 / 3), 1e-12));
  CHECK_THAT(distance_number(found, "key_head_window_90_error"),
             WithinAbs(distance_number(found, "window_90_error"), 1e-12));
}

TEST_CASE("slashes are the distances with the largest mean weights, with errors over blocks") {
  const std::vector<std::vector<double>> blocks{{4, 2, 3, 0}, {2, 2, 4, 0}, {3, 8, 0, 0}};
  const std::vector<Field> found = attention_distances(sum_of(blocks, 2), {{0}, 2}, 2);
  // Sums are 9, 12, 7 over 6 pairs each; nothing has a pair at 4.
  const std::vector<double> distances{1, 0, 2};
  for (std::size_t slash = 0; slash < 3; ++slash)
    CHECK(distance_number(found, "slash_distance", slash) == distances[slash]);
  CHECK(std::isnan(distance_number(found, "slash_distance", 3)));
  CHECK(std::isnan(distance_number(found, "slash_weight", 3)));
  CHECK_THAT(distance_number(found, "slash_weight"), WithinAbs(2, 1e-12));
  // Without one block the mean is 10 / 4, 10 / 4 or 4 / 4: their mean is 2, the squares add up to 1.5.
  CHECK_THAT(distance_number(found, "slash_error"), WithinAbs(std::sqrt(1.5 * 2 / 3), 1e-12));
}

TEST_CASE("far tokens are shared out evenly within a bin") {
  DistanceSum sum = sum_of({{4, 2, 2, 0}}, 2);
  sum.bins = {{0, 50, 60, 100}, {49, 59, 99, 199}};
  const std::vector<Field> found = attention_distances(sum, {{0}, 2}, 2);
  CHECK(field_of(found, "attention_distance/distant").axis("recent").size() == 1);  // of 64 tokens
  CHECK_THAT(distance_number(found, "distant"), WithinAbs(2 * 36.0 / 40 / 10, 1e-12));
  CHECK_THAT(distance_number(found, "distant", 1), WithinAbs((2 * 36.0 / 40 + 4) / 10, 1e-12));
}

TEST_CASE("weights of a document are summed on both sides of their queries, the first token apart") {
  constexpr Index length = 200;
  Matrix32 weights = Matrix32::Zero(length, length);
  for (Index i = 0; i < length; ++i) {
    weights(i, 0) += 0.25F;
    weights(i, i) += 0.25F;
    weights(i, std::max<Index>(0, i - 3)) += 0.25F;
    weights(i, std::min(length - 1, i + 3)) += 0.25F;
  }
  const std::vector<Field> found =
      TestPass{}.fields("attention_distance", {shown_weights({weights}, document_of(length))});
  const auto last = std::get<std::vector<std::int64_t>>(field_of(found, "attention_distance/last_distance").values);
  CHECK(last[128] == 128);
  CHECK(last.back() == 199);
  // Query 0 is apart, and of the others a quarter, and what three of them see of token 0 once more.
  CHECK_THAT(distance_number(found, "apart"), WithinAbs((1 + 199 * 0.25 + 3 * 0.25) / 200, 1e-6));
  CHECK(distance_number(found, "slash_distance") == 0);
  // 199 regular queries look at themselves, 196 three to the left and 196 + 3 three to the right or at the end.
  CHECK_THAT(distance_number(found, "slash_weight"), WithinAbs((199 + 1) * 0.25 / 199, 1e-6));
  CHECK(distance_number(found, "slash_distance", 1) == 3);
  CHECK_THAT(distance_number(found, "slash_weight", 1), WithinAbs(0.25, 1e-6));
}
