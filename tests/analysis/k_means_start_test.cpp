#include "../../analysis/statistics/k_means_start.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "../../core/numbers/error.h"
#include "../catch.h"

using namespace headwave;

TEST_CASE("k-means starts from different points while there are any") {
  Matrix columns(2, 6);
  columns << 1, 1, 2, 9, 2, 9,  //
      1, 1, 3, 9, 3, 9;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Random random(seed);
    const Matrix start = k_means_start(columns, 3, random);
    std::set<double> found(start.col(0).begin(), start.col(0).end());
    CHECK(found == std::set<double>{1, 2, 9});
    CHECK((start.col(1) - start.col(0)).cwiseAbs().maxCoeff() <= 1.0);  // whole points, not mixed coordinates
  }
  Random random(1);
  CHECK(k_means_start(columns, 5, random).rows() == 5);
}

TEST_CASE("k-means starts in every group of a crowd and a few far points") {
  // 1000 points near 0, one at 100, one at 200: uniform draws would miss the two nearly always.
  Random random(5);
  Matrix columns = Matrix::NullaryExpr(1, 1002, [&] { return random.normal(); });
  columns(0, 500) = 100.0;
  columns(0, 501) = 200.0;
  for (int repeat = 0; repeat < 20; ++repeat) {
    Matrix start = k_means_start(columns, 3, random);
    std::sort(start.data(), start.data() + 3);
    CHECK(std::abs(start(0, 0)) < 6.0);
    CHECK(start(1, 0) == 100.0);
    CHECK(start(2, 0) == 200.0);
  }
}

TEST_CASE("k-means has no start without points or clusters") {
  Random random(1);
  CHECK_THROWS_AS(k_means_start(Matrix(0, 0), 1, random), ShapeError);
  CHECK_THROWS_AS(k_means_start(Matrix(Matrix::Ones(2, 2)), 0, random), ShapeError);
}
