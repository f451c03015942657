#include "../../core/numbers/offset_peak.h"

#include <cmath>
#include <limits>

#include "../../core/errors/error.h"
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
  CHECK_THROWS_WITH(offset_peak(Vector(4)),
                    ContainsSubstring("offset_peak: expected an odd number of entries, one per offset -reach .."));
}

TEST_CASE("a maximum where the numbers end is at an edge, as no pair lies further out") {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  CHECK(offset_peak(Vector{{none, 3, 1, 2, 0}})->at_edge);
  CHECK(offset_peak(Vector{{0, 1, 2, 3, none}})->at_edge);
  CHECK_FALSE(offset_peak(Vector{{0, 3, none, 2, 0}})->at_edge);
  CHECK_FALSE(offset_peak(Vector{{0, 1, 2, none, none}})->at_edge);
}

TEST_CASE("the middle of a longer curve gives an estimate, or none") {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  const Vector curve{{9, 0, 3, 1, 2, 0, 8}};
  CHECK(peak_offset(curve, 2) == -1);
  CHECK(std::isnan(peak_offset(curve, 1)));
  CHECK(std::isnan(peak_offset(curve, 3)));
  CHECK(std::isnan(peak_offset(curve, 30)));
  CHECK(peak_offset(curve, 0) == 0);
  CHECK(peak_offset(Vector{{none, 0, 3, 1, none}}, 2) == 0);
  CHECK(std::isnan(peak_offset(Vector{{none, none, none}}, 1)));
  CHECK_THROWS_WITH(peak_offset(Vector(4), 1),
                    ContainsSubstring("offset_peak: expected an odd number of entries, one per offset -reach .."));
  CHECK_THROWS_WITH(peak_offset(curve, -1), ContainsSubstring("peak_offset: expected a reach of at least 0, found -1"));
}
