#include "../../analysis/attention/attention_distance.h"

#include <cmath>
#include <vector>

#include "../catch.h"

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
    Matrix& weights = sum.regular.emplace_back(2, 4);
    weights.row(0) = Eigen::Map<const Vector>(block.data(), 4).transpose();
    weights.row(1) = weights.row(0).reverse();
    sum.regular_pairs.emplace_back(Matrix::Constant(1, 4, 2));
    sum.regular_pairs.back()(0, 3) = 0;
    sum.kept.emplace_back(weights.rowwise().sum().array() + apart);
    add_to(sum.weight, Matrix(weights));
  }
  return sum;
}

}  // namespace

TEST_CASE("windows hold their share of what regular pairs and tokens apart get") {
  const DistanceSum sum = sum_of({{4, 2, 2, 0}}, 2);
  const AttentionDistances found = attention_distances(sum, {{0}, 2}, 1);
  // Of 10, 2 are apart: 90 % are 7 of the regular ones, halfway through the bin [2, 3].
  CHECK_THAT(found.window.value(0, 0), WithinAbs(3, 1e-9));
  CHECK_THAT(found.window.value(0, 1), WithinAbs(3.5, 1e-9));
  // The other head has 2 in [2, 3], 4 in [4, 7], 2 at 1.
  CHECK_THAT(found.window.value(1, 0), WithinAbs(7, 1e-9));
  CHECK(std::isnan(found.window.error(0, 0)));
  CHECK_THAT(found.group_window.value(0, 0), WithinAbs(7, 1e-9));
  CHECK_THAT(found.apart.value(0, 0), WithinAbs(0.2, 1e-12));
  CHECK(std::isnan(found.apart.error(0, 0)));
  CHECK(found.recent.empty());
  const std::vector<double> held{0.6, 0.8, 1, 1};
  for (std::size_t bin = 0; bin < 4; ++bin)
    CHECK_THAT(found.held(0, static_cast<Index>(bin)), WithinAbs(held[bin], 1e-12));
  CHECK_THAT(found.weight(0, 0), WithinAbs(0.4, 1e-12));
  CHECK(std::isnan(found.weight(0, 3)));
}

TEST_CASE("what is apart may hold a share by itself") {
  const AttentionDistances found = attention_distances(sum_of({{1, 0, 0, 0}}, 99), {{0}, 2}, 2);
  CHECK(found.window.value(0, 0) == 0);
  CHECK_THAT(found.window.value(0, 2), WithinAbs(0, 1e-9));
}

TEST_CASE("errors of windows leave out one block at a time") {
  const std::vector<std::vector<double>> blocks{{4, 2, 2, 0}, {2, 2, 4, 0}, {4, 4, 0, 0}};
  const AttentionDistances found = attention_distances(sum_of(blocks, 2), {{0}, 2}, 2);
  std::vector<double> without;
  for (std::size_t left_out = 0; left_out < 3; ++left_out) {
    std::vector<std::vector<double>> others = blocks;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(left_out));
    without.push_back(attention_distances(sum_of(others, 2), {{0}, 2}, 2).window.value(0, 0));
  }
  const double mean = (without[0] + without[1] + without[2]) / 3;
  double squares = 0;
  for (const double one : without) squares += (one - mean) * (one - mean);
  CHECK(squares > 0);
  CHECK_THAT(found.window.error(0, 0), WithinAbs(std::sqrt(squares * 2 / 3), 1e-12));
  CHECK_THAT(found.group_window.error(0, 0), WithinAbs(found.window.error(0, 0), 1e-12));
}

TEST_CASE("slashes are the distances with the largest mean weights, with errors over blocks") {
  const std::vector<std::vector<double>> blocks{{4, 2, 3, 0}, {2, 2, 4, 0}, {3, 8, 0, 0}};
  const AttentionDistances found = attention_distances(sum_of(blocks, 2), {{0}, 2}, 2);
  // Sums are 9, 12, 7 over 6 pairs each; nothing has a pair at 4.
  const std::vector<double> distances{1, 0, 2};
  for (std::size_t slash = 0; slash < 3; ++slash)
    CHECK(found.slash_distance(0, static_cast<Index>(slash)) == distances[slash]);
  CHECK(std::isnan(found.slash_distance(0, 3)));
  CHECK(std::isnan(found.slash.value(0, 3)));
  CHECK_THAT(found.slash.value(0, 0), WithinAbs(2, 1e-12));
  // Without one block the mean is 10 / 4, 10 / 4 or 4 / 4: their mean is 2, the squares add up to 1.5.
  CHECK_THAT(found.slash.error(0, 0), WithinAbs(std::sqrt(1.5 * 2 / 3), 1e-12));
}

TEST_CASE("far tokens are shared out evenly within a bin") {
  DistanceSum sum = sum_of({{4, 2, 2, 0}}, 2);
  sum.bins = {{0, 50, 60, 100}, {49, 59, 99, 199}};
  const AttentionDistances found = attention_distances(sum, {{0}, 2}, 2);
  REQUIRE(found.recent == std::vector<Index>{64});
  CHECK_THAT(found.distant.value(0, 0), WithinAbs(2 * 36.0 / 40 / 10, 1e-12));
  CHECK_THAT(found.distant.value(1, 0), WithinAbs((2 * 36.0 / 40 + 4) / 10, 1e-12));
}

TEST_CASE("traces of a run are summed on both sides of their queries") {
  OffsetTraces traces;
  traces.grid = {{0}, 1};
  traces.length = 200;
  const Index middle = 199;
  for (Matrix& trace : traces.trace) trace = Matrix::Zero(1, 399);
  for (Vector& count : traces.count) count = Vector::Constant(399, 5);
  Matrix& all = traces.trace[all_pairs];
  Matrix& regular = traces.trace[static_cast<std::size_t>(Pairs::without_sink)];
  all(0, middle) = regular(0, middle) = 1;
  all(0, middle - 3) = 3;
  regular(0, middle - 3) = 2;
  all(0, middle + 3) = regular(0, middle + 3) = 4;
  all(0, middle - 199) = regular(0, middle - 199) = 0.5;
  const DistanceSum sum = distance_sum(traces);
  CHECK(sum.bins.first.back() > 128);
  CHECK(sum.bins.last.back() == 199);
  CHECK(sum.bins.last[128] == 128);
  REQUIRE(sum.regular.size() == 1);
  CHECK(sum.regular[0](0, 3) == 6);
  CHECK(sum.regular_pairs[0](0, 3) == 10);
  CHECK(sum.weight(0, 3) == 7);
  CHECK(sum.pairs(0, 0) == 5);
  CHECK(sum.pairs(0, 3) == 10);
  CHECK(sum.regular[0](0, sum.bins.count() - 1) == 0.5);
  CHECK(sum.kept[0](0, 0) == 8.5);
}
