#include <vector>

#include "../../analysis/statistics/k_means.h"
#include "../../core/numbers/random.h"
#include "../catch.h"
#include "../test_numbers.h"

using namespace headwave;

TEST_CASE("the nearest centroids are those of the least distances") {
  for (const Index width : {1, 3, 21})
    for (const Index count : {1, 7, 513, 1300})
      for (const Index clusters : {1, 2, 6}) {
        CAPTURE(width, count, clusters);
        const Matrix points = random_matrix(count, width, 1), centroids = random_matrix(clusters, width, 2);
        std::vector<Index> expected;
        for (Index i = 0; i < count; ++i) {
          Index nearest = 0;
          (centroids.rowwise() - points.row(i)).rowwise().squaredNorm().minCoeff(&nearest);
          expected.push_back(nearest);
        }
        CHECK(nearest_centroids(points, centroids) == expected);
      }
}

TEST_CASE("points that lie as far from two centroids are the first one's") {
  Matrix points(3, 1), centroids(2, 1);
  points << 0, -1, 3;
  centroids << -2, 2;
  CHECK(nearest_centroids(points, centroids) == std::vector<Index>{0, 0, 1});
}
