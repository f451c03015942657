#pragma once

#include <string>
#include <vector>

#include "../../core/fields/field.h"

namespace headwave {

/// The offset at which each cluster's centroid is largest, in tokens; NaN for a centroid without a number, or one that is
/// largest at the end of its window.
/// @returns (clusters)
/// @throws ShapeError if head_cluster/centroid is missing, has other axes than (cluster, window_offset), or an even number
///         of offsets
std::vector<double> cluster_peaks(const Result& result);

/// An offset for a legend: "−2", "+1", "0" with a true minus sign, "none" where it is NaN.
std::string signed_offset(double offset);

}  // namespace headwave
