#pragma once

#include "state_moments.h"

namespace headwave {

/// Hidden states against anything that is the same in every document: with L the Cholesky factor of the covariance Sxx
/// of one layer's independent columns,
///
///     W = L^-1 (mean over documents of x_t, less its mean over t, columns scaled) sqrt(D)      (1)
///
/// L^-1 Sxy Syy^(-1/2) of y (T, k) with orthonormal columns is W y: its singular values are the canonical correlations.
/// Columns are chosen by what is left of their variance, the largest first, until none has more than its rounding.
///
/// @returns (variables, T)  as many rows as there are independent columns
/// @throws NumericError if the moments are not finite
Matrix whitened_positions(const StateMoments& layer);

}  // namespace headwave
