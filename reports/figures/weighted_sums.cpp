#include "weighted_sums.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../../core/numbers/offset_peak.h"
#include "../drawing/field_values.h"

namespace headwave {

double WeightedSums::reach() const {
  double largest = 1;
  for (std::size_t t = 0; t < lags.size(); ++t)
    if (shown(t)) largest = std::max(largest, std::abs(lags[t]));
  return largest;
}

std::size_t WeightedSums::peak(std::size_t row) const {
  const auto far = static_cast<Index>(reach());
  Vector curve = Vector::Constant(2 * far + 1, std::nan(""));
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t t = 0; t < lags.size(); ++t) {
    if (!shown(t) || !std::isfinite(value(row, t))) continue;
    curve[static_cast<Index>(lags[t]) + far] = value(row, t);
    least = std::min(least, value(row, t));
  }
  const auto peak = offset_peak(curve);
  if (!peak || peak->at_edge || !(curve[peak->offset + far] > least)) return lags.size();
  return static_cast<std::size_t>(std::find(lags.begin(), lags.end(), static_cast<double>(peak->offset)) -
                                  lags.begin());
}

WeightedSums weighted_sums(const Result& result) {
  constexpr const char* name = "cross_covariance/weighted_centred";
  WeightedSums sums;
  sums.values = &doubles_of(result, name, {"layer", "head", "lag"});
  const Field& field = result.at(name);
  sums.layers = whole_coordinates(field, "layer");
  sums.heads = whole_coordinates(field, "head");
  sums.lags = coordinates(field, "lag");
  if (sums.values->empty()) throw ShapeError(fmt::format("{}: holds no weighted sum to draw", name));
  const auto length = field.attributes.find("length");
  if (length != field.attributes.end() && std::holds_alternative<std::int64_t>(length->second) &&
      std::get<std::int64_t>(length->second) > 0)
    sums.length = static_cast<double>(std::get<std::int64_t>(length->second));
  return sums;
}

}  // namespace headwave
