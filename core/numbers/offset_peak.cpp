#include "offset_peak.h"

#include <cmath>

#include <fmt/format.h>

#include "error.h"

namespace headwave {

std::optional<OffsetPeak> offset_peak(Eigen::Ref<const Vector> curve, bool causal) {
  if (curve.size() % 2 == 0)
    throw ShapeError(fmt::format("offset_peak: {} entries; expected one for each of -reach .. reach", curve.size()));
  const Index reach = (curve.size() - 1) / 2;
  std::optional<OffsetPeak> peak;
  for (Index distance = 0; distance <= reach; ++distance)
    for (const Index t : {-distance, distance}) {
      if (std::isnan(curve[t + reach]) || (causal && t > 0)) continue;
      if (peak && !(curve[t + reach] > curve[peak->offset + reach])) continue;
      peak = {t, distance > 0 && distance == reach};
    }
  return peak;
}

}  // namespace headwave
