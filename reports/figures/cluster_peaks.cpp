#include "cluster_peaks.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../../core/numbers/offset_peak.h"
#include "../drawing/field_values.h"

namespace headwave {

std::vector<double> cluster_peaks(const Result& result, const std::string& group) {
  const std::string name = group + "/centroid";
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

std::vector<bool> cluster_preferences(const Result& result, const std::string& group) {
  constexpr double preferred = 2.5;  // of the median
  const std::size_t clusters = cluster_peaks(result, group).size();
  const auto& centroids = doubles_of(result, group + "/centroid", {"cluster", "window_offset"});
  const std::size_t offsets = clusters == 0 ? 0 : centroids.size() / clusters;
  std::vector<bool> preferences;
  for (std::size_t c = 0; c < clusters; ++c) {
    std::vector<double> weights;
    for (std::size_t t = 0; t < offsets; ++t)
      if (const double weight = centroids[c * offsets + t]; std::isfinite(weight) && weight > 0)
        weights.push_back(weight);
    std::sort(weights.begin(), weights.end());
    preferences.push_back(!weights.empty() && weights.back() >= preferred * weights[weights.size() / 2]);
  }
  return preferences;
}

std::string cluster_peak_text(std::size_t place, const std::vector<double>& peaks,
                              const std::vector<bool>& preferences) {
  return preferences[place] ? signed_offset(peaks[place]) : "none";
}

Ink cluster_ink(Index cluster, std::size_t place, const std::vector<bool>& preferences) {
  return place < preferences.size() && !preferences[place] ? ink::rest : categorical(cluster);
}

std::string signed_offset(double offset) {
  if (std::isnan(offset)) return "none";
  return fmt::format("{}{:g}", offset < 0 ? "−" : offset > 0 ? "+" : "", std::abs(offset));
}

std::string pointed_offset(double offset, double window) {
  if (offset < -window) return "← " + signed_offset(offset);
  return offset > window ? signed_offset(offset) + " →" : signed_offset(offset);
}

std::string end_arrow(const std::vector<double>& curve) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const double value : curve)
    if (std::isfinite(value)) {
      low = std::min(low, value);
      high = std::max(high, value);
    }
  if (!(low < high)) return "";
  return curve.front() == high ? "←" : curve.back() == high ? "→" : "";
}

}  // namespace headwave
