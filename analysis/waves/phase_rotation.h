#pragma once

#include <complex>

#include "../../core/numbers/fft.h"
#include "../../core/numbers/matrix.h"
#include "qk_svd.h"

namespace headwave {

/// Phases by which a head turns what its query reads before its key reads it. k = numerical rank of the head.
struct PhaseRotation {
  Vector phase;          ///< (k)  theta = arg lambda, radian, in (-pi, pi]
  Vector retention;      ///< (k)  |lambda| <= 1, descending; equal ones: the positive phase first
  MatrixC direction;     ///< (k, k)  unit columns p, coordinates within the redefined queries (and keys)
  double condition = 1;  ///< of `direction`: 1 where M is normal; large: single phases mean little. 1 at rank 0
  [[nodiscard]] Index rank() const { return phase.size(); }
  [[nodiscard]] std::complex<double> eigenvalue(Index i) const { return std::polar(retention[i], phase[i]); }
};

/// Eigenvalues of the rotation between a head's query directions and its key directions.
///
///     M = U_Q^T U_K,   M p = lambda p,   lambda = retention e^{i theta}                       (1)
///     K p = lambda Q p + rest,   |U_K p - lambda U_Q p| = sqrt(1 - retention^2) |p|           (2)
///
/// with Q = X U_Q and K = X U_K the redefined queries and keys. Where Q p is a wave of f cycles per T tokens,
/// K p is the same wave theta ahead, (K p)[n] = (Q p)[n + Delta] with Delta = T theta / (2 pi f): attention
/// lands at t* = -Delta. (The extended paper's equation 25 has the other sign; its published heads agree with
/// this one.)
///
/// The whole R = U_Q^T U_K of the paper is d_model x d_model, but W_Q W_K^T has rank k: all other columns are
/// what an SVD routine happens to return, and most of R's eigenvalues with them. Those of M are the non-zero
/// ones of the partial isometry U_K U_Q^T: column signs, rotations inside equal singular values and a change
/// of basis in the head do not change them. M is not normal; its condition says how far.
///
/// Source: Yamamoto and Matsuzaki 2023, section 3.5, for R; M in its place is this project's.
PhaseRotation phase_rotation(const QkSvd& svd);

/// Two-sided spectra of Q p for every direction p, folded onto f >= 0: |F[Q p]|[f].
///
/// p and its conjugate are both there, and g(f, theta) = g(-f, -theta): f >= 0 with theta in (-pi, pi] is
/// complete, and keeps the sign of the shift.
/// @param spectrum  (floor(T/2) + 1, k)  transform of the redefined queries, or keys
/// @returns (floor(T/2) + 1, k)
/// @throws ShapeError if the spectrum has not as many columns as the rotation
Matrix direction_spectra(const MatrixC& spectrum, const PhaseRotation& rotation);

/// The bin of (-pi, pi] that a phase falls in: bins of equal width about multiples of it, so that the phases
/// 0 and, of an even number of bins, pi lie in the middle of theirs. The last one holds what is left of both
/// ends of the circle.
Index phase_bin(double phase, Index bins);

}  // namespace headwave
