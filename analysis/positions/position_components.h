#pragma once

#include <string>
#include <vector>

#include "../../core/fields/field.h"
#include "../../core/numbers/matrix.h"
#include "../pass/analysis.h"

namespace headwave {

/// Principal components of T positions. There are min(T, d_model) components.
struct PositionComponents {
  Index length = 0;         ///< T
  Index rank = 0;           ///< number of components above rounding
  Vector share;             ///< (components)           share of the variance, descending; 0 beyond the rank
  Vector cumulative_share;  ///< (components)           share of the first 1, 2, ... components
  Matrix directions;        ///< (d_model, components)  orthonormal columns; the largest entry of each is positive
  Matrix coordinates;       ///< (T, components)        positions along the directions; orthogonal columns
  std::string undefined;    ///< why there are no components; otherwise empty
};

/// Principal components of the position embedding (PCA of positions).
///
///     P - 1 mean(P) = U S V^T,   share_k = s_k^2 / sum_j s_j^2,   coordinates = U S             (1)
///
/// (1) is a singular value decomposition, since the eigenvalues of a Gram matrix would lose shares below eps
/// of the largest. Components beyond the rank have s_k <= max(T, d) eps max(s_1, |P| / sqrt(T)). They are
/// only rounding of the table and of its mean, so their share is 0. Directions of equal shares are arbitrary
/// inside the space they span. A share says how much of the table's variance lies along a direction, not
/// whether a head reads the direction.
///
/// Source: Yamamoto and Matsuzaki 2023 (Japanese version), appendix B.
/// @param positions  (T, d_model)  rows of the position table for tokens 0 .. T-1; no rows if none exists
/// @throws NumericError if an entry is not finite
PositionComponents position_components(MatrixView positions);

/// Fields position_components/share and cumulative_share. Without components, both are a NaN with the reason.
std::vector<Field> describe(const PositionComponents& components);

}  // namespace headwave
