#pragma once

#include "fft.h"
#include "matrix.h"

namespace headwave {

/// Spectra of columns padded with T zeros. The product of two such spectra, transformed back, gives sums at
/// all lags that do not wrap around. Row 2 f is the transform without padding at f cycles per T.
/// @param columns  (T, columns), T >= 1
/// @returns (T + 1, columns)
/// @throws NumericError if an entry is not finite
MatrixC padded_spectrum(MatrixView columns);

/// Every second row of padded_spectrum(), which is the transform without padding at f = 0 .. floor(T/2).
MatrixC unpadded_rows(const MatrixC& padded);

/// Sums of the scalar products of two sequences of vectors at every lag:
///
///     sums[t] = sum_i a_i . b_(i+t),   t = -(T-1) .. T-1                                     (1)
///
/// Each sum is over T - |t| pairs. The sums are computed by FFT.
/// @param a  padded_spectrum() of the first sequence
/// @param b  padded_spectrum() of the second
/// @returns (2 T - 1)
Vector lagged_sums(const MatrixC& a, const MatrixC& b);

/// Equation (1) for every column separately.
/// @returns (columns, 2 T - 1)
Matrix lagged_sums_by_column(const MatrixC& a, const MatrixC& b);

/// Sums of the first n entries of x, for n = 0 .. T. @returns (T + 1)
Vector prefix_sums(Eigen::Ref<const Vector> x);

}  // namespace headwave
