#pragma once

#include <vector>

#include "../../core/fields/field.h"
#include "../drawing/palette.h"

namespace headwave {

/// The offset at which each cluster's centroid of offset traces is largest, in tokens; NaN for a centroid
/// without a number, or one that is largest at the end of its window.
/// @returns (clusters)
/// @throws ShapeError if head_cluster/centroid is missing, has other axes than (cluster, offset), or
///         an even number of offsets
std::vector<double> cluster_peaks(const Result& result);

/// Which clusters prefer some offset: their centroid's largest value is at least 2.5 times its median over
/// the offsets that get any weight.
/// @returns (clusters)
/// @throws ShapeError as cluster_peaks()
std::vector<bool> cluster_preferences(const Result& result);

/// The colour of a cluster wherever it is shown, grey for those without a preference.
/// @param preferences  of cluster_preferences(); empty: not known
Ink cluster_ink(Index cluster, std::size_t place, const std::vector<bool>& preferences);

}  // namespace headwave
