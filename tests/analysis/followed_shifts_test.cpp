#include <cmath>
#include <limits>

#include "../../analysis/attention/followed_keys.h"
#include "../../core/errors/error.h"
#include "../catch.h"

using namespace headwave;

namespace {

const std::vector<Index> shifts{-2, -1, 0, 1, 2};

}  // namespace

TEST_CASE("a head that reads positions alone follows every shift, one that reads none follows no shift") {
  const FollowedShifts all = followed_shifts(shifts, Vector{{1, 0, -1, -2, -3}});
  CHECK(all.share == 1);
  CHECK(all.slope == -1);
  CHECK(all.fitted == 4);
  const FollowedShifts nothing = followed_shifts(shifts, Vector{{-1, -1, -1, -1, -1}});
  CHECK(nothing.share == 0);
  CHECK(nothing.slope == 0);
}

TEST_CASE("an alias is not fitted, and the slope says how many shifts are") {
  // Under u = 2 the head lands 57 tokens away: (2 * 2 + 1 + 1) / (4 + 1 + 1) without that shift.
  const FollowedShifts alias = followed_shifts(shifts, Vector{{1, 0, -1, -2, -58}});
  CHECK(alias.share == 0.75);
  CHECK(alias.slope == -1);
  CHECK(alias.fitted == 3);
  const FollowedShifts nowhere = followed_shifts(shifts, Vector{{30, 30, -1, 30, 30}});
  CHECK(nowhere.share == 0);
  CHECK(std::isnan(nowhere.slope));
  CHECK(nowhere.fitted == 0);
}

TEST_CASE("a shift without an offset is not followed, and is not in the slope") {
  // Moved by +2, -, -1, -1 for u = -2, -1, 1, 2: the slope is (-4 - 1 - 2) / (4 + 1 + 4).
  const FollowedShifts some = followed_shifts(shifts, Vector{{1, not_defined, -1, -2, -2}});
  CHECK(some.share == 0.5);
  CHECK(some.slope == -7.0 / 9);
}

TEST_CASE("without an offset to be moved nothing is followed") {
  const FollowedShifts lost = followed_shifts(shifts, Vector{{1, 0, not_defined, -2, -3}});
  CHECK(std::isnan(lost.share));
  CHECK(std::isnan(lost.slope));
  const FollowedShifts alone = followed_shifts({0}, Vector{{-1}});
  CHECK(std::isnan(alone.share));
  CHECK(std::isnan(alone.slope));
  CHECK_THROWS_AS(followed_shifts(shifts, Vector(4)), ShapeError);
  CHECK_THROWS_AS(followed_shifts({1, 2}, Vector(2)), ShapeError);
}
