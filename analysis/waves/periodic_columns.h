#pragma once

#include "wave_chain.h"

namespace headwave {

/// The strongest line of a column's spectrum, and the share of the column's power that it holds.
struct PeakShare {
  Index frequency = 0;  ///< f >= 1 of the peak, cycles per T
  double share = 0;     ///< of the power at f >= 1 that lies within one bin of it; 0: the column is constant

  /// Whether the peak lies inside the band.
  [[nodiscard]] bool in_band(Index length) const;
};

/// @param spectrum  (floor(T/2) + 1)  transform of the column
PeakShare peak_share(Eigen::Ref<const Eigen::VectorXcd> spectrum, Index length);

}  // namespace headwave
