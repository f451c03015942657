#include "offset_peak.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "../errors/error.h"

namespace headwave {

namespace {

/// @returns n for a curve at offsets -n .. n
Index half_width(Index entries) {
  if (entries % 2 == 0)
    throw ShapeError(fmt::format(
        "offset_peak: expected an odd number of entries, one per offset -reach .. reach, found {}", entries));
  return (entries - 1) / 2;
}

}  // namespace

std::optional<OffsetPeak> offset_peak(Eigen::Ref<const Vector> curve, bool causal) {
  const Index reach = half_width(curve.size());
  std::optional<OffsetPeak> peak;
  for (Index distance = 0; distance <= reach; ++distance)
    for (const Index t : {-distance, distance}) {
      if (std::isnan(curve[t + reach]) || (causal && t > 0)) continue;
      if (peak && !(curve[t + reach] > curve[peak->offset + reach])) continue;
      const Index further = t < 0 ? t - 1 : t + 1;
      peak = {t, distance > 0 && (distance == reach || std::isnan(curve[further + reach]))};
    }
  return peak;
}

double peak_offset(Eigen::Ref<const Vector> curve, Index reach) {
  const Index middle = half_width(curve.size());
  if (reach < 0) throw ShapeError(fmt::format("peak_offset: expected a reach of at least 0, found {}", reach));
  const Index near = std::min(reach, middle);
  const auto peak = offset_peak(curve.segment(middle - near, 2 * near + 1));
  return peak && !peak->at_edge ? static_cast<double>(peak->offset) : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace headwave
