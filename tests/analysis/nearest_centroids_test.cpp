#include "../../analysis/statistics/nearest_centroids.h"

#include <cmath>
#include <vector>

#include "../../core/numbers/random.h"
#include "../catch.h"
#include "../test_numbers.h"

using namespace headwave;

namespace {

std::vector<Index> by_distances(const Matrix& columns, const Matrix& centroids) {
  std::vector<Index> labels;
  for (Index i = 0; i < columns.cols(); ++i) {
    Index nearest = 0;
    (centroids.rowwise() - columns.col(i).transpose()).rowwise().squaredNorm().minCoeff(&nearest);
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
        const Matrix columns = random_matrix(width, count, 1);
        Matrix centroids = random_matrix(clusters, width, 2);
        NearestCentroids nearest(columns);
        nearest.find(centroids);
        CHECK(nearest.labels() == by_distances(columns, centroids));
        for (int step = 0; step < 12; ++step) {
          const Matrix before = centroids;
          // Ever less, as they do where groups come to rest; in between one that jumps.
          centroids += std::pow(0.5, step) * random_matrix(clusters, width, static_cast<std::uint64_t>(10 + step));
          if (step == 5) centroids.row(0) = columns.col(count / 2).transpose();
          const std::vector<Index> was = nearest.labels();
          const bool changed = nearest.follow(before, centroids);
          CHECK(nearest.labels() == by_distances(columns, centroids));
          CHECK(changed == (was != nearest.labels()));
        }
      }
}

TEST_CASE("points that lie as far from two centroids are the first one's, also after both moved") {
  Matrix columns(1, 3), centroids(2, 1);
  columns << 0, -1, 3;
  centroids << -2, 2;
  NearestCentroids nearest(columns);
  nearest.find(centroids);
  CHECK(nearest.labels() == std::vector<Index>{0, 0, 1});
  Matrix closer(2, 1);
  closer << -1, 1;
  CHECK_FALSE(nearest.follow(centroids, closer));
  CHECK(nearest.labels() == std::vector<Index>{0, 0, 1});
}

TEST_CASE("a point that is given to a centroid is looked at again when any moves") {
  Matrix columns(1, 2), centroids(2, 1);
  columns << 0, 10;
  centroids << 0, 10;
  NearestCentroids nearest(columns);
  nearest.find(centroids);
  nearest.give(0, 1);
  CHECK(nearest.labels() == std::vector<Index>{1, 1});
  CHECK(nearest.follow(centroids, centroids));
  CHECK(nearest.labels() == std::vector<Index>{0, 1});
}
