#include <cmath>
#include <limits>

#include "../../analysis/statistics/published_measures.h"
#include "../../core/errors/error.h"
#include "../catch.h"

using namespace headwave;

namespace {

/// T = 16, f = 0 .. 8: of the band 4 to 6 cycles per 16 tokens.
const FrequencyBand middle{4, 6, 16};

}  // namespace

TEST_CASE("the contrast is the largest amplitude of the band over the median of all but the constant") {
  // At f = 1 .. 8: sorted 1 1 2 2 | 3 4 5 9, the median lies between 2 and 3.
  CHECK(band_contrast(Vector{{100, 9, 1, 2, 3, 5, 4, 2, 1}}, middle) == 5 / 2.5);
  // An odd number of frequencies has its median among them: 1 2 2 | 3 | 4 5 9.
  CHECK(band_contrast(Vector{{100, 9, 2, 3, 5, 4, 2, 1}}, {3, 5, 14}) == 5.0 / 3);
}

TEST_CASE("the band is the same in cycles per token whatever the length") {
  Vector amplitude = Vector::Ones(65);  // T = 128: 40 to 60 per 512 are 10 to 15
  amplitude[9] = amplitude[16] = 7;
  CHECK(band_contrast(amplitude) == 1);
  amplitude[15] = 3;
  CHECK(band_contrast(amplitude) == 3);
}

TEST_CASE("a contrast that is not defined is NaN") {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  CHECK(std::isnan(band_contrast(Vector())));
  CHECK(std::isnan(band_contrast(Vector{{1}})));
  CHECK(std::isnan(band_contrast(Vector{{1, 2, 1}})));  // T = 4: 40 to 60 per 512 round down to the constant
  CHECK(std::isnan(band_contrast(Vector::Zero(65))));
  CHECK(std::isnan(band_contrast(Vector{{1, 2, 3, 4, 5, none, 7, 8, 9}}, {1, 2, 16})));
  CHECK(band_contrast(Vector{{none, 2, 2, 2, 6, 2, 2, 2, 2}}, middle) == 3);
  CHECK_THROWS_AS(band_contrast(Vector::Ones(9), {0, 1, 1}), NumericError);
}
