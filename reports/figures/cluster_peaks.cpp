#include "cluster_peaks.h"

#include <cmath>

#include <fmt/format.h>

#include "../../core/numbers/error.h"
#include "../../core/numbers/offset_peak.h"
#include "../drawing/field_values.h"

namespace headwave {

std::vector<double> cluster_peaks(const Result& result) {
  constexpr const char* name = "head_cluster/centroid";
  const auto& centroids = doubles_of(result, name, {"cluster", "window_offset"});
  const auto clusters = static_cast<std::size_t>(result.at(name).axis("cluster").size());
  const auto offsets = static_cast<Index>(result.at(name).axis("window_offset").size());
  if (offsets % 2 == 0)
    throw ShapeError(fmt::format("{}: {} offsets; expected one for each of -window .. window", name, offsets));
  std::vector<double> peaks;
  for (std::size_t c = 0; c < clusters; ++c) {
    const auto peak =
        offset_peak(Eigen::Map<const Vector>(centroids.data() + c * static_cast<std::size_t>(offsets), offsets));
    peaks.push_back(peak && !peak->at_edge ? static_cast<double>(peak->offset) : std::nan(""));
  }
  return peaks;
}

std::string signed_offset(double offset) {
  if (std::isnan(offset)) return "none";
  return fmt::format("{}{:g}", offset < 0 ? "−" : offset > 0 ? "+" : "", std::abs(offset));
}

}  // namespace headwave
