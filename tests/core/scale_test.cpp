#include "../../core/numbers/scale.h"

#include <cmath>

#include "../catch.h"

using namespace headwave;

TEST_CASE("a scale is a power of two near the largest value") {
  CHECK(scale_of(0) == 1);
  CHECK(scale_of(5) == 4);
  CHECK(scale_of(4) == 4);
  CHECK(scale_of(0.3) == 0.25);
  CHECK(scale_of(5e-30) == std::exp2(-98));
}
