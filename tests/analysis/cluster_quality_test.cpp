#include <cmath>
#include <fstream>
#include <limits>

#include <nlohmann/json.hpp>

#include "../../analysis/statistics/k_means.h"
#include "../../core/numbers/random.h"
#include "../catch.h"
#include "../reference/direct_clusters.h"
#include "../test_numbers.h"

using namespace headwave;

namespace {

std::vector<Index> random_labels(Index count, Index groups, std::uint64_t seed) {
  Random random(seed);
  std::vector<Index> labels;
  for (Index i = 0; i < count; ++i) labels.push_back(random.below(groups));
  return labels;
}

Matrix random_points(Index count, Index width, std::uint64_t seed) {
  Random random(seed);
  return Matrix::NullaryExpr(count, width, [&] { return random.normal(); });
}

}  // namespace

TEST_CASE("the adjusted Rand index of five items is the one on the page") {
  // Pairs together: in both 1, in a 2, in b 2, of 10. Expected 0.4: (1 - 0.4) / (2 - 0.4).
  const std::vector<Index> a{0, 0, 1, 1, 2};
  const std::vector<Index> b{7, 7, 3, 5, 5};
  CHECK(adjusted_rand(a, b) == Approx(0.375).epsilon(4 * eps));
}

TEST_CASE("the adjusted Rand index agrees with counting pairs") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto a = random_labels(60, 1 + static_cast<Index>(seed % 6), seed);
    const auto b = random_labels(60, 4, 100 + seed);
    CHECK(std::abs(adjusted_rand(a, b) - direct_adjusted_rand(a, b)) <= 64 * eps);
    CHECK(adjusted_rand(a, b) == adjusted_rand(b, a));
  }
}

TEST_CASE("the adjusted Rand index is 1 for the same groups under other names, 0 by chance") {
  const auto labels = random_labels(500, 5, 3);
  std::vector<Index> renamed;
  for (const Index label : labels) renamed.push_back(-10 * label + 3);
  CHECK(adjusted_rand(labels, renamed) == 1.0);
  CHECK(std::abs(adjusted_rand(labels, random_labels(500, 5, 4))) < 0.03);
  const std::vector<Index> together(6, 2), apart{0, 1, 2, 3, 4, 5}, one{5};
  CHECK(adjusted_rand(together, together) == 1.0);
  CHECK(adjusted_rand(apart, apart) == 1.0);
  CHECK(adjusted_rand(together, apart) == 0.0);
  CHECK(adjusted_rand(one, one) == 1.0);
}

TEST_CASE("quality agrees with scikit-learn's") {
  std::ifstream file(repository_file("tests/golden/clusters.json"));
  const nlohmann::json dump = nlohmann::json::parse(file);
  const auto rows = dump.at("points").get<std::vector<std::vector<double>>>();
  Matrix points(static_cast<Index>(rows.size()), static_cast<Index>(rows.front().size()));
  for (Index i = 0; i < points.rows(); ++i)
    for (Index j = 0; j < points.cols(); ++j)
      points(i, j) = rows[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
  std::vector<std::vector<Index>> labelings;
  for (const auto& run : dump.at("runs")) labelings.push_back(run.at("labels").get<std::vector<Index>>());
  for (std::size_t i = 0; i < labelings.size(); ++i) {
    CHECK(std::abs(silhouette(points, labelings[i]) - dump.at("runs")[i].at("silhouette").get<double>()) < 1e-12);
    for (std::size_t j = 0; j < labelings.size(); ++j)
      CHECK(std::abs(adjusted_rand(labelings[i], labelings[j]) - dump.at("adjusted_rand")[i][j].get<double>()) < 1e-12);
  }
}

TEST_CASE("the silhouette of three points on a line is the one on the page") {
  // 0 and 1 together, 5 alone: (1 - 1/5 + 1 - 1/4 + 0) / 3.
  Matrix points(3, 1);
  points << 0, 1, 5;
  CHECK(silhouette(points, {0, 0, 1}) == Approx((0.8 + 0.75) / 3.0).epsilon(8 * eps));
}

TEST_CASE("silhouettes agree with point by point") {
  const Matrix points = random_points(333, 6, 12);
  for (const Index groups : {2, 3, 8, 300}) {
    const auto labels = random_labels(333, groups, static_cast<std::uint64_t>(groups));
    CHECK(std::abs(silhouette(points, labels) - direct_silhouette(points, labels)) <= 333 * 4 * eps);
  }
}

TEST_CASE("silhouettes have the same digits on any number of threads") {
  const Matrix points = random_points(700, 9, 2);
  const auto labels = random_labels(700, 5, 6);
  for (const Index most : {4000, 300}) {
    SilhouetteOptions options{most, 5, 1};
    const double one = silhouette(points, labels, options);
    options.threads = 3;
    CHECK(silhouette(points, labels, options) == one);
  }
}

TEST_CASE("a silhouette of some points is that of their own, near that of all") {
  Random random(31);
  Matrix points = random_points(1500, 4, 8);
  const auto labels = random_labels(1500, 3, 7);
  for (Index i = 0; i < points.rows(); ++i)
    points(i, 0) += 4.0 * static_cast<double>(labels[static_cast<std::size_t>(i)]);
  const double all = silhouette(points, labels);
  const double some = silhouette(points, labels, {300, 1, 1});
  CHECK(some != all);
  CHECK(std::abs(some - all) < 0.03);
  CHECK(silhouette(points, labels, {300, 2, 1}) != some);
  CHECK(silhouette(points, labels, {1500, 2, 1}) == all);
}

TEST_CASE("silhouettes that are not defined are NaN") {
  const Matrix points = random_points(10, 2, 1);
  CHECK(std::isnan(silhouette(points, std::vector<Index>(10, 3))));
  CHECK(silhouette(points, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}) == 0.0);
  CHECK(silhouette(Matrix(Matrix::Ones(4, 2)), {0, 0, 1, 1}) == 0.0);
}
