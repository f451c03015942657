#include <cmath>

#include "../../analysis/statistics/published_measures.h"
#include "../catch.h"

using namespace headwave;

TEST_CASE("heads count whose documents fall into at most so many clusters") {
  Matrix shares(4, 3);
  shares << 1, 0, 0,  //
      0.5, 0, 0.5,    //
      0.98, 0.01, 0.01, 0, 1, 0;
  CHECK(concentrated_heads(shares) == 0.75);
  CHECK(concentrated_heads(shares, 1) == 0.5);
  CHECK(concentrated_heads(shares, 3) == 1);
  CHECK(std::isnan(concentrated_heads(Matrix())));
}
