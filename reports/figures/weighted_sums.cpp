#include "weighted_sums.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "../../core/numbers/error.h"
#include "../drawing/field_values.h"

namespace headwave {

double WeightedSums::reach() const {
  double largest = 1;
  for (std::size_t t = 0; t < lags.size(); ++t)
    if (shown(t)) largest = std::max(largest, std::abs(lags[t]));
  return largest;
}

std::size_t WeightedSums::peak(std::size_t row) const {
  std::size_t best = lags.size(), least = lags.size();
  for (std::size_t t = 0; t < lags.size(); ++t) {
    if (!shown(t) || !std::isfinite(value(row, t))) continue;
    if (best == lags.size() || value(row, t) > value(row, best)) best = t;
    if (least == lags.size() || value(row, t) < value(row, least)) least = t;
  }
  if (best == lags.size() || !(value(row, best) > value(row, least))) return lags.size();
  const auto cut_off = [&](std::size_t t) { return t == 0 || t + 1 == lags.size() || !shown(t - 1) || !shown(t + 1); };
  return lags[best] != 0 && cut_off(best) ? lags.size() : best;
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
