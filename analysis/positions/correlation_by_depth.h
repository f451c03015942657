#pragma once

#include "../../core/numbers/matrix.h"

namespace headwave {

/// How the positions' wave fares from the first layer to the last, read off canonical correlations by layer.
struct CorrelationByDepth {
  Index high = 0;   ///< components of the first layer that correlate above the limit
  double fall = 0;  ///< mean correlation of the first layer less that of the last; NaN: one of them has a NaN
};

/// Two numbers for the published picture of CCA by layer: some components follow the positions closely at first, and
/// all of them less with depth.
///
///     high = #{ c : rho[0, c] > limit },   fall = mean_c rho[0, c] - mean_c rho[L - 1, c]     (1)
///
/// Source: Yamamoto and Matsuzaki 2023, extended version, correlation by layer; the limit is this project's.
/// @param correlation  (layers, components)  canonical correlations with the positions, of one truncation
/// @param limit        above which a component counts as highly correlated
/// @throws ShapeError if there are no layers or no components
CorrelationByDepth correlation_by_depth(MatrixView correlation, double limit = 0.9);

}  // namespace headwave
