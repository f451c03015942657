#pragma once

#include <optional>

#include "matrix.h"

namespace headwave {

/// Where a curve over offsets is largest within the reach of a search.
struct OffsetPeak {
  Index offset = 0;      ///< tokens
  bool at_edge = false;  ///< at |t| = reach or beside a NaN: values beyond were not searched and may be larger, so
                         ///< the offset is no estimate
};

/// Where a curve over offsets is largest: the one rule of all searches over whole offsets and lags. Ties go to the
/// smaller |t|, then to the left; NaN is ignored.
///
/// A maximum at the edge of the search shows where the curve was cut off, not where it turns: a wider search would find
/// another. The same holds beside a NaN, where no pair lies farther out. Offset 0 is never an edge, not even under a
/// causal mask.
///
/// @param curve   (2 reach + 1)  at t = -reach .. reach
/// @param causal  search t <= 0 only
/// @returns nothing if every value is NaN
/// @throws ShapeError if the curve has an even number of entries
std::optional<OffsetPeak> offset_peak(Eigen::Ref<const Vector> curve, bool causal = false);

/// The offset of offset_peak() as an estimate: NaN at an edge.
/// @param curve  (2 n + 1)  at t = -n .. n
/// @param reach  search |t| <= min(reach, n), in tokens
/// @returns tokens; NaN if every value is NaN, or the largest lies at the edge of the search
/// @throws ShapeError if the curve has an even number of entries, or reach < 0
double peak_offset(Eigen::Ref<const Vector> curve, Index reach);

}  // namespace headwave
