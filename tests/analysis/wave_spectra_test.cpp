#include "../../analysis/waves/wave_spectra.h"

#include "../catch.h"

using namespace headwave;

TEST_CASE("the expected maximum of some of the columns is the mean over all choices, worked by hand") {
  Matrix amplitude(2, 3);
  amplitude << 1, 2, 4, 5, 5, 5;
  CHECK(expected_maximum(amplitude, 3)[0] == 4);
  CHECK(expected_maximum(amplitude, 1)[0] == Approx(7.0 / 3));
  CHECK(expected_maximum(amplitude, 2)[0] == Approx((2 + 4 + 4) / 3.0));
  CHECK(expected_maximum(amplitude, 2)[1] == Approx(5));
  CHECK_THROWS_AS(expected_maximum(amplitude, 0), ShapeError);
  CHECK_THROWS_AS(expected_maximum(amplitude, 4), ShapeError);
}
