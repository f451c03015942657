#pragma once

#include <optional>

#include "matrix.h"

namespace headwave {

/// The maximum of a curve over offsets within the reach of a search.
struct OffsetPeak {
  Index offset = 0;      ///< tokens
  bool at_edge = false;  ///< |t| = reach, or beside a NaN: it is no estimate, since values beyond may be larger
};

/// Finds the maximum of a curve over offsets. All searches over whole offsets and lags use this rule. Ties go
/// to the smaller |t|, then to the left; NaN is ignored.
///
/// A maximum at the edge of the search shows where the curve was cut off, not where it turns, and a wider
/// search would find another maximum. The same holds for a maximum beside a NaN, since farther out there are
/// no pairs. Offset 0 is never an edge, not even under a causal mask.
/// @param curve   (2 reach + 1)  at t = -reach .. reach
/// @param causal  search t <= 0 only
/// @returns no value if every entry is NaN
/// @throws ShapeError if the curve has an even number of entries
std::optional<OffsetPeak> offset_peak(Eigen::Ref<const Vector> curve, bool causal = false);

/// The offset of offset_peak() as an estimate, which is NaN if the maximum is at an edge.
/// @param curve  (2 n + 1)  at t = -n .. n
/// @param reach  search |t| <= min(reach, n), in tokens
/// @returns tokens; NaN also if every entry is NaN
/// @throws ShapeError if the curve has an even number of entries, or reach < 0
double peak_offset(Eigen::Ref<const Vector> curve, Index reach);

}  // namespace headwave
