#include "../../core/numbers/offset_peak.h"

#include <cmath>
#include <limits>

#include "../../core/numbers/error.h"
#include "../catch.h"

using namespace headwave;

TEST_CASE("the largest value counts, of equal ones that nearer to zero, then the left one") {
  CHECK(offset_peak(Vector{{0, 3, 1, 2, 0}})->offset == -1);
  CHECK(offset_peak(Vector{{5, 3, 1, 3, 5}})->offset == -2);
  CHECK(offset_peak(Vector{{0, 3, 3, 3, 0}})->offset == 0);
  CHECK(offset_peak(Vector{{0, 3, 1, 3, 0}})->offset == -1);
  CHECK(offset_peak(Vector{{1, 1, 1}})->offset == 0);
}

TEST_CASE("a curve that rises to the end of the search has no maximum there that could be called one") {
  CHECK(offset_peak(Vector{{9, 3, 1, 2, 0}})->at_edge);
  CHECK(offset_peak(Vector{{0, 3, 1, 2, 9}})->at_edge);
  CHECK_FALSE(offset_peak(Vector{{0, 3, 1, 2, 0}})->at_edge);
  CHECK_FALSE(offset_peak(Vector{{9, 9, 1, 2, 0}})->at_edge);
  CHECK_FALSE(offset_peak(Vector{{7}})->at_edge);
  // Under a causal mask the right half is not looked at, and offset 0 is no end.
  CHECK(offset_peak(Vector{{0, 3, 1, 2, 9}}, true)->offset == -1);
  CHECK_FALSE(offset_peak(Vector{{0, 1, 2, 3, 4}}, true)->at_edge);
  CHECK(offset_peak(Vector{{5, 1, 2, 3, 9}}, true)->at_edge);
}

TEST_CASE("what is no number is no maximum") {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  CHECK(offset_peak(Vector{{none, 3, none, 2, 0}})->offset == -1);
  CHECK_FALSE(offset_peak(Vector{{none, none, none}}).has_value());
  CHECK_FALSE(offset_peak(Vector{{none, none, 1}}, true).has_value());
  CHECK_THROWS_AS(offset_peak(Vector(4)), ShapeError);
}
