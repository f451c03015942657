#pragma once

#include <vector>

#include "../../core/numbers/matrix.h"

namespace headwave {

/// In how many documents attention follows moved keys. S = shifts.
struct FollowedDocuments {
  Vector followed;  ///< (S)  documents in which it does; NaN: none was asked
  Vector asked;     ///< (S)  documents in which it could; NaN: none
};

/// Where a head may look.
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
/// sums over the offsets t at which both are numbers, since a mask may hide what comes from beyond it;
/// displacements that leave fewer than half of the reach are not looked at. Of equal ones the nearest counts,
/// then the left one. All of the profile counts, so it does not depend on which of two weights beside each
/// other is the larger.
/// @param before, after  (2 reach + 1)  NaN: no pair
Index profile_displacement(const Vector& before, const Vector& after);

/// A head follows in a document if moved = -u, exactly. It is asked there if its profile has a maximum t*
/// before the end of the search and t* - u lies within it and is not masked: a causal head that looks at the
/// token before cannot look at the one after. Nor is it asked where its profile is so broad, or so weak, that
/// a move by -u leaves more than nine tenths of the mass where some was before: then what does not move,
/// words that recur, decides.
///
/// @param shifts  (S)  u in tokens, not 0
/// @throws ShapeError if a profile has other shifts or another width
FollowedDocuments followed_documents(const std::vector<Index>& shifts, const std::vector<MovedProfiles>& documents,
                                     const OffsetLimits& limits);

}  // namespace headwave
