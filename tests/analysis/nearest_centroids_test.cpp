#include <cmath>
#include <utility>
#include <vector>

#include "../../analysis/statistics/k_means.h"
#include "../../core/numbers/random.h"
#include "../catch.h"
#include "../test_numbers.h"

using namespace headwave;

namespace {

std::vector<Index> by_distances(const Matrix& points, const Matrix& centroids) {
  std::vector<Index> labels;
  for (Index i = 0; i < points.rows(); ++i) {
    Index nearest = 0;
    (centroids.rowwise() - points.row(i)).rowwise().squaredNorm().minCoeff(&nearest);
    labels.push_back(nearest);
  }
  return labels;
}

}  // namespace

TEST_CASE("the nearest centroids are those of the least distances, however the centroids move") {
  for (const Index width : {1, 3, 21})
    for (const Index count : {1, 7, 513, 1300})
      for (const Index clusters : {1, 2, 6}) {
        CAPTURE(width, count, clusters);
        const Matrix points = random_matrix(count, width, 1);
        Matrix centroids = random_matrix(clusters, width, 2);
        NearestCentroids nearest(points);
        nearest.find(centroids);
        CHECK(nearest.labels() == by_distances(points, centroids));
        for (int step = 0; step < 12; ++step) {
          const Matrix before = centroids;
          // Ever less, as they do where groups come to rest; in between one that jumps.
          centroids += std::pow(0.5, step) * random_matrix(clusters, width, static_cast<std::uint64_t>(10 + step));
          if (step == 5) centroids.row(0) = points.row(count / 2);
          const std::vector<Index> was = nearest.labels();
          std::vector<std::pair<Index, Index>> moves, expected;
          for (const auto& [point, from] : nearest.follow(before, centroids)) moves.emplace_back(point, from);
          CHECK(nearest.labels() == by_distances(points, centroids));
          for (std::size_t i = 0; i < was.size(); ++i)
            if (was[i] != nearest.labels()[i]) expected.emplace_back(static_cast<Index>(i), was[i]);
          CHECK(moves == expected);
        }
      }
}

TEST_CASE("points that lie as far from two centroids are the first one's, also after both moved") {
  Matrix points(3, 1), centroids(2, 1);
  points << 0, -1, 3;
  centroids << -2, 2;
  NearestCentroids nearest(points);
  nearest.find(centroids);
  CHECK(nearest.labels() == std::vector<Index>{0, 0, 1});
  Matrix closer(2, 1);
  closer << -1, 1;
  CHECK(nearest.follow(centroids, closer).empty());
  CHECK(nearest.labels() == std::vector<Index>{0, 0, 1});
}

TEST_CASE("a point that is given to a centroid is looked at again when any moves") {
  Matrix points(2, 1), centroids(2, 1);
  points << 0, 10;
  centroids << 0, 10;
  NearestCentroids nearest(points);
  nearest.find(centroids);
  nearest.give(0, 1);
  CHECK(nearest.labels() == std::vector<Index>{1, 1});
  CHECK(nearest.follow(centroids, centroids).size() == 1);
  CHECK(nearest.labels() == std::vector<Index>{0, 1});
}
