#pragma once

#include <cstddef>
#include <vector>

#include "../../core/fields/field.h"

namespace headwave {

/// cross_covariance/weighted_centred as figures show it: lags |t| <= 30, where the published heads cancel.
struct WeightedSums {
  std::vector<Index> layers, heads;
  std::vector<double> lags;                     ///< all there are, in tokens
  const std::vector<double>* values = nullptr;  ///< (layers, heads, lags)  of the Result, which must outlive this
  double length = 1;                            ///< T: what figures divide by; 1 where the Field does not say

  [[nodiscard]] std::size_t rows() const { return layers.size() * heads.size(); }
  [[nodiscard]] double value(std::size_t row, std::size_t lag) const { return (*values)[row * lags.size() + lag]; }
  [[nodiscard]] bool shown(std::size_t lag) const { return lags[lag] >= -30 && lags[lag] <= 30; }
  [[nodiscard]] double reach() const;  ///< largest lag shown, 1 at least

  /// Where a head's sum is largest among the lags shown; lags.size() where it is nowhere a number, the same
  /// everywhere, or largest at the end of what is shown, where the sum was cut off.
  [[nodiscard]] std::size_t peak(std::size_t row) const;
};

/// @throws ShapeError if the Field is missing, has other axes than (layer, head, lag), or holds nothing
WeightedSums weighted_sums(const Result& result);

}  // namespace headwave
