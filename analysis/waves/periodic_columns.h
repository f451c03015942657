#pragma once

#include "wave_chain.h"

namespace headwave {

/// The strongest frequency of a column, and its share of the column's power.
struct PeakShare {
  Index frequency = 0;  ///< frequency of the peak, f >= 1, in cycles per T
  double share = 0;  ///< share of the power at f >= 1 that lies within one bin of the peak; 0: the column is constant

  /// Whether the peak is neither drift (below 5 cycles per T) nor noise (periods below 4 tokens).
  [[nodiscard]] bool in_band(Index length) const;
};

/// Finds the peak of a column's spectrum.
/// @param spectrum  (floor(T/2) + 1)  transform of the column
PeakShare peak_share(Eigen::Ref<const Eigen::VectorXcd> spectrum, Index length);

}  // namespace headwave
