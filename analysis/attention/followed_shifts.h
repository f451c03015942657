#pragma once

#include <vector>

#include "../../core/numbers/matrix.h"

namespace headwave {

/// How well a head's offset follows the shifts by which its keys were re-aimed.
struct FollowedShifts {
  double share = 0;  ///< of the shifts u != 0 that move the offset by exactly -u; NaN: none, or no offset at u = 0
  double slope = 0;  ///< least squares through 0 of the moved offset on u; NaN: no shift to fit
  Index fitted = 0;  ///< shifts u != 0 that the slope is fitted to
};

/// Position is all that a head reads where share = 1 and slope = -1; 0 and 0: nothing that it reads was moved.
///
///     moved_u = t*_u - t*_0,   share = #{ u != 0 : moved_u = -u } / #{ u != 0 },
///     slope = sum_u u moved_u / sum_u u^2                                                     (1)
///
/// The slope is fitted to the shifts that move the offset by 0 to 2 u, |moved_u + u| <= |u|. Under another shift the
/// head looks somewhere else altogether, at an alias of its wave a whole period away say, and one such offset would
/// outweigh all others. How many shifts are fitted is given beside the slope. A shift under which the head has no offset
/// counts in the share as not followed, and not in the slope.
///
/// @param shifts   (S)  u in tokens, 0 among them
/// @param offsets  (S)  measured offset under each shift, tokens; NaN: undefined
/// @throws ShapeError if the two are not equally long, or 0 is not among the shifts
FollowedShifts followed_shifts(const std::vector<Index>& shifts, const Vector& offsets);

}  // namespace headwave
