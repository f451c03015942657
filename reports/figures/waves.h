#pragma once

#include <cstddef>
#include <vector>

#include "../../core/fields/field.h"

namespace headwave {

/// cross_covariance/weighted_centred as figures show it: lags |t| <= 30, where the published heads cancel.
struct WeightedSums {
  std::size_t rows = 0;                         ///< heads
  std::vector<double> lags;                     ///< all there are, in tokens
  const std::vector<double>* values = nullptr;  ///< (heads, lags)  of the Result, which must outlive this
  double length = 1;                            ///< T: what figures divide by; 1 if the Field does not say

  [[nodiscard]] double value(std::size_t row, std::size_t lag) const { return (*values)[row * lags.size() + lag]; }
  [[nodiscard]] bool shown(std::size_t lag) const { return lags[lag] >= -30 && lags[lag] <= 30; }
  [[nodiscard]] double reach() const;  ///< largest lag shown, 1 at least

  /// The place of the lag at which a head's sum is largest among those shown; lags.size() if no sum is a
  /// number, all are the same, or the largest is at the end of what is shown, where the sum was cut off.
  [[nodiscard]] std::size_t peak(std::size_t row) const;
};

/// @throws ShapeError if the Field is missing or has other axes than (layer, head, lag)
WeightedSums weighted_sums(const Result& result);

}  // namespace headwave
