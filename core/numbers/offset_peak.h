#pragma once

#include <optional>

#include "matrix.h"

namespace headwave {

/// Where a curve over offsets is largest within the reach of a search.
struct OffsetPeak {
  Index offset = 0;      ///< tokens
  bool at_edge = false;  ///< at |t| = reach, or beside what is no number: what lies beyond was not looked at and may be
                         ///< larger, so it is no estimate
};

/// The largest value of a curve, the one rule for all searches over whole offsets and lags: of equal values the one at
/// the smaller |t| counts, then the left one, and a NaN is no value.
///
/// A maximum at the end of the search is where the curve was cut off, not where it turns: a wider search would find it
/// elsewhere. So is one where the numbers end, since no pair lies further out. Offset 0 is never an end, also under a
/// causal mask, which allows nothing beyond.
///
/// @param curve   (2 reach + 1)  at t = -reach .. reach
/// @param causal  look at t <= 0 alone
/// @returns nothing where no value is a number
/// @throws ShapeError if the curve has an even number of entries
std::optional<OffsetPeak> offset_peak(Eigen::Ref<const Vector> curve, bool causal = false);

/// The same in the middle of a longer curve, as an estimate.
/// @param curve  (2 n + 1)  at t = -n .. n
/// @param reach  |t| <= reach is looked at, in tokens; all there is where n is less
/// @returns tokens; NaN where no value is a number, or the largest lies at the end of the search
/// @throws ShapeError if the curve has an even number of entries, or reach < 0
double peak_offset(Eigen::Ref<const Vector> curve, Index reach);

}  // namespace headwave
