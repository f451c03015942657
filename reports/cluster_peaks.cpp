#include "headwave/reports/cluster_peaks.h"

#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "headwave/reports/field_values.h"

namespace headwave {

std::vector<double> cluster_peaks(const Result& result) {
  constexpr const char* name = "head_cluster/centroid";
  const auto& centroids = doubles_of(result, name, {"cluster", "window_offset"});
  const auto offsets = coordinates(result.at(name), "window_offset");
  const auto clusters = static_cast<std::size_t>(result.at(name).axis("cluster").size());
  std::vector<double> peaks;
  for (std::size_t c = 0; c < clusters; ++c) {
    double peak = std::nan("");
    double largest = -std::numeric_limits<double>::infinity();
    for (std::size_t t = 0; t < offsets.size(); ++t) {
      const double value = centroids[c * offsets.size() + t];
      if (!(value > largest)) continue;
      largest = value;
      peak = offsets[t];
    }
    peaks.push_back(peak);
  }
  return peaks;
}

std::string signed_offset(double offset) {
  if (std::isnan(offset)) return "none";
  return fmt::format("{}{:g}", offset < 0 ? "−" : offset > 0 ? "+" : "", std::abs(offset));
}

}  // namespace headwave
