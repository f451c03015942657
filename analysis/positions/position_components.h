#pragma once

#include <string>
#include <vector>

#include "../../core/fields/field.h"
#include "../../core/numbers/matrix.h"
#include "../pass/analysis.h"

namespace headwave {

/// Principal components of the positions. T = positions, components = min(T, d_model).
struct PositionComponents {
  Index length = 0;         ///< T
  Index rank = 0;           ///< components above rounding
  Vector share;             ///< (components)           of the variance, descending; 0 beyond the rank
  Vector cumulative_share;  ///< (components)           of the first 1, 2, ...
  Matrix directions;        ///< (d_model, components)  orthonormal columns; the largest entry of each is positive
  Matrix coordinates;       ///< (T, components)        of the positions along the directions; columns are orthogonal
  std::string undefined;    ///< why there are no components; otherwise empty
};

/// Principal components of the position embedding (PCA of positions).
///
///     P - 1 mean(P) = U S V^T,   share_k = s_k^2 / sum_j s_j^2,   scores = U S                  (1)
///
/// By a singular value decomposition and not by the eigenvalues of a Gram matrix, which would lose the shares
/// below eps of the largest. Beyond the rank, s_k <= max(T, d) eps max(s_1, |P| / sqrt(T)): what is left is
/// the rounding of the table and of its mean, and its share is 0. Directions of equal shares are arbitrary
/// inside the space they span. A share says how much of the table lies along a direction, not whether any
/// head reads it.
///
/// Source: Yamamoto and Matsuzaki 2023 (Japanese version), appendix B.
/// @param positions  (T, d_model)  the rows that tokens 0 .. T-1 read; no rows: the model has no position table
/// @throws NumericError if an entry is not finite
PositionComponents position_components(MatrixView positions);

/// Fields position_components/share and cumulative_share; single NaNs with the reason where there are no
/// components.
std::vector<Field> describe(const PositionComponents& components);

}  // namespace headwave
