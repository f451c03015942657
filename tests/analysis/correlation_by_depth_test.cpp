#include <cmath>
#include <limits>

#include "../../analysis/statistics/published_measures.h"
#include "../../core/errors/error.h"
#include "../catch.h"

using namespace headwave;

TEST_CASE("highly correlated components are counted in the first layer, and the fall is to the last") {
  Matrix correlation(3, 4);
  correlation << 1, 0.95, 0.875, 0.175,  //
      0.99, 0.99, 0.99, 0.99,            //
      0.5, 0.25, 0.25, 0;
  CHECK(correlation_by_depth(correlation).high == 2);
  CHECK(correlation_by_depth(correlation).fall == Approx(0.5));
  CHECK(correlation_by_depth(correlation, 0.8).high == 3);
  CHECK(correlation_by_depth(correlation.topRows(1)).fall == 0);
}

TEST_CASE("a correlation that is not defined is not high, and leaves no fall") {
  Matrix correlation = Matrix::Ones(2, 2);
  correlation(0, 1) = std::numeric_limits<double>::quiet_NaN();
  CHECK(correlation_by_depth(correlation).high == 1);
  CHECK(std::isnan(correlation_by_depth(correlation).fall));
  CHECK_THROWS_AS(correlation_by_depth(Matrix(0, 4)), ShapeError);
}
