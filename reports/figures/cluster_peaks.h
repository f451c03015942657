#pragma once

#include <string>
#include <vector>

#include "../../core/fields/field.h"
#include "../drawing/palette.h"

namespace headwave {

/// The offset at which each cluster's centroid is largest, in tokens; NaN for a centroid without a number, or one that is
/// largest at the end of its window.
/// @returns (clusters)
/// @param group  "head_cluster", of attention weights, or "score_cluster", of scores
/// @throws ShapeError if group/centroid is missing, has other axes than (cluster, window_offset), or an even number
///         of offsets
std::vector<double> cluster_peaks(const Result& result, const std::string& group = "head_cluster");

/// Which clusters prefer some offset: whose centroid is at its largest 2.5 times its median over the offsets that get any
/// weight, or more.
/// @returns (clusters)
/// @throws ShapeError as cluster_peaks()
std::vector<bool> cluster_preferences(const Result& result, const std::string& group = "head_cluster");

/// What stands beside a cluster's number: the offset of its peak, "none" where it prefers no offset.
/// @param preferences  of cluster_preferences()
std::string cluster_peak_text(std::size_t place, const std::vector<double>& peaks,
                              const std::vector<bool>& preferences);

/// The colour of a cluster wherever it is shown, grey for those without a preference.
/// @param preferences  of cluster_preferences(); empty: not known
Ink cluster_ink(Index cluster, std::size_t place, const std::vector<bool>& preferences);

/// An offset for a legend: "−2", "+1", "0" with a true minus sign, "none" where it is NaN.
std::string signed_offset(double offset);

/// The same beside a panel that ends at +-window, with an arrow where the offset lies beyond: "← −58", "+3", "+40 →".
std::string pointed_offset(double offset, double window);

/// "←" or "→" where a curve is largest at the end of what a panel shows, so that more may lie beyond; else empty.
/// @param curve  (offsets shown)
std::string end_arrow(const std::vector<double>& curve);

}  // namespace headwave
