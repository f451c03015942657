#include "quantile.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "../../core/errors/error.h"

namespace headwave {

double quantile(std::vector<double> values, double q) {
  if (values.empty()) throw ShapeError("quantile: expected at least one value, got none");
  if (!(q >= 0.0 && q <= 1.0)) throw NumericError(fmt::format("quantile: expected q in [0, 1], got {}", q));
  if (std::any_of(values.begin(), values.end(), [](double value) { return std::isnan(value); }))
    throw NumericError("quantile: a value is NaN; leave undefined values out first");
  const double place = static_cast<double>(values.size() - 1) * q;
  const double whole = std::floor(place);
  const auto lower = values.begin() + static_cast<std::ptrdiff_t>(whole);
  std::nth_element(values.begin(), lower, values.end());
  const double below = *lower;
  // Exactly on a value nothing is interpolated: an infinite neighbour would make NaN of it.
  if (place == whole) return below;
  const double above = *std::min_element(lower + 1, values.end());
  return below + (place - whole) * (above - below);
}

Vector row_quantiles(const Matrix& draws, double q) {
  Vector found = Vector::Constant(draws.rows(), not_defined);
  for (Index row = 0; row < draws.rows() && draws.cols() > 0; ++row)
    if (are_finite(draws.row(row))) found[row] = quantile({draws.row(row).begin(), draws.row(row).end()}, q);
  return found;
}

}  // namespace headwave
