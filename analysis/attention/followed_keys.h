#pragma once

#include <vector>

#include "../../core/numbers/matrix.h"

namespace headwave {

/// Number of documents in which attention follows moved keys. S = shifts.
struct FollowedDocuments {
  Vector followed;  ///< (S)  documents in which it follows; NaN: it could follow in none
  Vector asked;     ///< (S)  documents in which it could follow; NaN: none
};

/// Offsets that the mask allows.
struct OffsetLimits {
  Index window = 0;     ///< of the mask, |t| < window; 0: no limit
  bool causal = false;  ///< t <= 0 alone
};

/// Offset profiles of one head in one document.
struct MovedProfiles {
  Vector before;  ///< (2 reach + 1)     of the model as it is; NaN: no pair
  Matrix after;   ///< (S, 2 reach + 1)  with keys moved by u tokens
};

/// How far a profile p moved to become p': the displacement after which they share the largest part of their
/// mass,
///
///     moved = argmax over s of sum_t min( p'(t) / sum p',  p(t - s) / sum p ),  |s| <= reach     (1)
///
/// summed over the offsets t at which both are defined, since a mask may hide what comes from beyond it. A
/// displacement that leaves less than half of the reach is not considered. Ties go to the smaller |s|, then
/// to the left. The whole profile counts, so the result does not depend on which of two neighbouring weights
/// is larger.
/// @param before, after  (2 reach + 1)  NaN: no pair
Index profile_displacement(const Vector& before, const Vector& after);

/// A head follows in a document if moved = -u, exactly. It is asked there if its profile has a maximum t*
/// before the end of the search and t* - u lies within it and is not masked: a causal head that looks at the
/// token before cannot look at the one after. Nor is it asked if its profile is so broad or so weak that more
/// than nine tenths of its mass still overlap after a move by -u: then recurring words decide, which do not
/// move.
///
/// @param shifts  (S)  u in tokens, not 0
/// @throws ShapeError if a profile has other shifts or another width
FollowedDocuments followed_documents(const std::vector<Index>& shifts, const std::vector<MovedProfiles>& documents,
                                     const OffsetLimits& limits);

/// How well a head's offset follows when its keys are shifted.
struct FollowedShifts {
  double share = 0;  ///< of the shifts u != 0 that move the offset by exactly -u; NaN: none, or no offset at u = 0
  double slope = 0;  ///< least squares through 0 of the moved offset on u; NaN: no shift to fit
  Index fitted = 0;  ///< shifts u != 0 that the slope is fitted to
};

/// Position is all that a head reads where share = 1 and slope = -1; 0 and 0: nothing that it reads was
/// moved.
///
///     moved_u = t*_u - t*_0,   share = #{ u != 0 : moved_u = -u } / #{ u != 0 },
///     slope = sum_u u moved_u / sum_u u^2                                                     (1)
///
/// The slope is fitted to the shifts that move the offset by 0 to 2 u, |moved_u + u| <= |u|. Under another
/// shift the head looks somewhere else altogether, at an alias of its wave a whole period away say, and one
/// such offset would outweigh all others. How many shifts are fitted is given beside the slope. A shift under
/// which the head has no offset counts in the share as not followed, and not in the slope.
///
/// @param shifts   (S)  u in tokens, 0 among them
/// @param offsets  (S)  measured offset under each shift, tokens; NaN: undefined
/// @throws ShapeError if the two are not equally long, or 0 is not among the shifts
FollowedShifts followed_shifts(const std::vector<Index>& shifts, const Vector& offsets);

}  // namespace headwave
