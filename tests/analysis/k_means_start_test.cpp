#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include "../../analysis/statistics/k_means.h"
#include "../../core/errors/error.h"
#include "../catch.h"

using namespace headwave;

TEST_CASE("k-means starts from different points while there are any") {
  Matrix points(6, 2);
  points << 1, 1, 1, 1, 2, 3, 9, 9, 2, 3, 9, 9;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Random random(seed);
    const Matrix start = k_means_start(points, 3, random);
    std::set<double> found(start.col(0).begin(), start.col(0).end());
    CHECK(found == std::set<double>{1, 2, 9});
    CHECK((start.col(1) - start.col(0)).cwiseAbs().maxCoeff() <= 1.0);  // whole points, not mixed coordinates
  }
  Random random(1);
  CHECK(k_means_start(points, 5, random).rows() == 5);
}

TEST_CASE("k-means starts in every group of a crowd and a few far points") {
  // 1000 points near 0, one at 100, one at 200: uniform draws would miss the two nearly always.
  Random random(5);
  Matrix points = Matrix::NullaryExpr(1002, 1, [&] { return random.normal(); });
  points(500, 0) = 100.0;
  points(501, 0) = 200.0;
  for (int repeat = 0; repeat < 20; ++repeat) {
    Matrix start = k_means_start(points, 3, random);
    std::sort(start.data(), start.data() + 3);
    CHECK(std::abs(start(0, 0)) < 6.0);
    CHECK(start(1, 0) == 100.0);
    CHECK(start(2, 0) == 200.0);
  }
}

TEST_CASE("k-means starts from points that are there several times as if they were written down as often") {
  Random source(4);
  const Matrix points = Matrix::NullaryExpr(40, 3, [&] { return source.normal(); });
  std::vector<Index> times, place;
  for (Index i = 0; i < points.rows(); ++i) {
    times.push_back(1 + i * i % 5);
    place.insert(place.end(), static_cast<std::size_t>(times.back()), i);
  }
  const Matrix written = points(place, Eigen::seqN(0, points.cols()));
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    Random counted(seed), repeated(seed);
    CHECK(k_means_start(points, 7, counted, times) == k_means_start(written, 7, repeated));
  }
}

TEST_CASE("k-means has no start without points or clusters") {
  Random random(1);
  CHECK_THROWS_AS(k_means_start(Matrix(Matrix::Ones(3, 2)), 1, random, std::vector<Index>{1, 1}), ShapeError);
  CHECK_THROWS_AS(k_means_start(Matrix(0, 0), 1, random), ShapeError);
  CHECK_THROWS_AS(k_means_start(Matrix(Matrix::Ones(2, 2)), 0, random), ShapeError);
}

TEST_CASE("k-means starts where a start that computes every distance does") {
  // Greedy k-means++ as its paper has it: no distance is spared.
  const auto every_distance = [](const Matrix& points, Index clusters, Random& random) {
    std::vector<Index> centres{random.below(points.rows())};
    const auto inertia = [&](Index candidate) {
      double sum = 0;
      for (Index i = 0; i < points.rows(); ++i) {
        double least = (points.row(i) - points.row(candidate)).squaredNorm();
        for (const Index centre : centres) least = std::min(least, (points.row(i) - points.row(centre)).squaredNorm());
        sum += least;
      }
      return sum;
    };
    while (static_cast<Index>(centres.size()) < clusters) {
      std::vector<double> cumulative;
      for (Index i = 0; i < points.rows(); ++i) {
        double least = std::numeric_limits<double>::infinity();
        for (const Index centre : centres) least = std::min(least, (points.row(i) - points.row(centre)).squaredNorm());
        cumulative.push_back(least + (cumulative.empty() ? 0.0 : cumulative.back()));
      }
      std::vector<Index> drawn(2 + static_cast<std::size_t>(std::log(static_cast<double>(clusters))));
      for (Index& point : drawn)
        point = std::upper_bound(cumulative.begin(), cumulative.end(), random.uniform() * cumulative.back()) -
                cumulative.begin();
      std::vector<double> sums;
      for (const Index point : drawn) sums.push_back(inertia(point));
      centres.push_back(drawn[static_cast<std::size_t>(std::min_element(sums.begin(), sums.end()) - sums.begin())]);
    }
    return Matrix(points(centres, Eigen::seqN(0, points.cols())));
  };
  Random random(3);
  for (const Index width : {1, 3, 17}) {
    Matrix points = Matrix::NullaryExpr(300, width, [&] { return random.normal(); });
    for (Index i = 0; i < 300; ++i) points.row(i).array() += 4.0 * static_cast<double>(i % 5);  // groups, some nearer
    for (const Index clusters : {1, 2, 7, 12}) {
      Random here(static_cast<std::uint64_t>(10 * width + clusters)), there = here;
      CHECK(k_means_start(points, clusters, here) == every_distance(points, clusters, there));
      CHECK(here.bits() == there.bits());
    }
  }
}
