#pragma once

#include <complex>
#include <vector>

#include "../../core/fields/head_name.h"
#include "../../core/model/model.h"
#include "../../core/numbers/fft.h"
#include "../../core/numbers/matrix.h"
#include "../pass/analysis.h"

namespace headwave {

/// Pairs of residual-stream directions that a head matches, by descending gain. k is the rank of W_Q W_K^T.
struct QkSvd {
  Vector gain;        ///< (min(d_head, d_model))  all singular values, descending; without the scale 1/sqrt(d_head)
  Matrix query;       ///< (d_model, k)  orthonormal directions that queries read
  Matrix key;         ///< (d_model, k)  orthonormal directions that keys read
  Matrix from_query;  ///< (d_head, k)   x query = (x W_Q) from_query
  Matrix from_key;    ///< (d_head, k)   x key = (x W_K) from_key
  [[nodiscard]] Index rank() const { return query.cols(); }
};

/// Singular value decomposition of a head's query-key form, cut at its numerical rank.
///
///     x_i W_Q W_K^T x_j^T = sum_j gain[j] (x_i . query_j) (x_j . key_j)                       (1)
///     kept: gain[j] > max(d_model, d_head) eps gain[0]                                        (2)
///
/// W_Q W_K^T (d_model x d_model) is never formed: with W_Q = Q_q R_q and W_K = Q_k R_k only the d_head x
/// d_head core R_q R_k^T is decomposed, O(d_model d_head^2). Directions that do not satisfy (2) are rounding
/// and are omitted. `from_query` = W_K^T key / gain and `from_key` = W_Q^T query / gain turn queries and keys
/// into redefined queries and keys. (1) omits biases and rotary phases. The largest entry of each query
/// column is positive, so that runs can be compared.
///
/// Source: Yamamoto and Matsuzaki 2023, section 3.3.
/// @param w_query  (d_model, d_head)  acts on row vectors: q = x w_query
/// @param w_key    (d_model, d_head)
/// @throws ShapeError if shapes differ or are empty; NumericError if an entry is not finite
QkSvd qk_svd(MatrixView w_query, MatrixView w_key);

/// Phases between the directions that a head's queries and its keys read. k is the numerical rank.
struct PhaseRotation {
  Vector phase;          ///< (k)  theta = arg lambda, radian, in (-pi, pi]
  Vector retention;      ///< (k)  |lambda| <= 1, descending; ties: the smaller |phase| first, then the positive phase
  MatrixC direction;     ///< (k, k)  unit columns p, in coordinates of the redefined queries and keys
  double condition = 1;  ///< condition number of `direction`; 1: M is normal; large: single phases mean little
  [[nodiscard]] Index rank() const { return phase.size(); }
  [[nodiscard]] std::complex<double> eigenvalue(Index i) const { return std::polar(retention[i], phase[i]); }
};

/// Eigenvalues of the rotation between a head's query directions and its key directions.
///
///     M = U_Q^T U_K,   M p = lambda p,   lambda = retention e^{i theta}                       (1)
///     K p = lambda Q p + rest,   |U_K p - lambda U_Q p| = sqrt(1 - retention^2) |p|           (2)
///
/// Q = X U_Q and K = X U_K are the redefined queries and keys. If Q p is a wave of f cycles per T tokens, K p
/// is the same wave, advanced in phase by theta: (K p)[n] = (Q p)[n + Delta] with Delta = T theta / (2 pi f).
/// Attention then lands at t* = -Delta. (The extended paper has the opposite sign in equation 25, but not in
/// the heads that it shows.)
///
/// The paper's full R = U_Q^T U_K is d_model x d_model, but W_Q W_K^T has only rank k. The other columns of
/// U_Q and U_K, and with them most eigenvalues of R, are whatever an SVD routine returns. The eigenvalues of
/// M are the non-zero eigenvalues of the partial isometry U_K U_Q^T. They do not depend on column signs,
/// rotations within equal singular values, or the basis in the head. M is not normal; `condition` says how
/// far it is from normal.
///
/// Source: Yamamoto and Matsuzaki 2023, section 3.5, for R; M in its place is this project's.
PhaseRotation phase_rotation(const QkSvd& svd);

/// Amplitude spectra |F[Q p](f)| at f >= 0, for every direction p.
///
/// The conjugate q of a direction p is also a direction, and |F[Q p](-f)| = |F[Q q](f)|. Therefore f >= 0
/// with theta in (-pi, pi] is complete, and keeps the sign of the shift.
/// @param spectrum  (floor(T/2) + 1, k)  transform of the redefined queries, or of the redefined keys
/// @returns (floor(T/2) + 1, k)
/// @throws ShapeError if the number of columns of the spectrum is not k
Matrix direction_spectra(const MatrixC& spectrum, const PhaseRotation& rotation);

/// Index of the bin of a phase in (-pi, pi]. Bins have equal width, and phase 0 is in the middle of a bin. If
/// the number of bins is even, pi is in the middle of the last bin, which holds both ends of the circle.
Index phase_bin(double phase, Index bins);

/// Directions and phases of one head, which the wave chain uses for every document. k is the numerical rank.
struct ChainHead {
  QkSvd svd;       ///< without its (d_model, k) bases, to save memory
  Index rank = 0;  ///< k
  PhaseRotation rotation;
};

/// qk_svd() and phase_rotation() of every head of the grid.
/// @throws any error that these two functions throw
std::vector<ChainHead> chain_heads(const Stack& stack, const HeadGrid& grid, int threads);

/// Components of redefined queries and keys, numbered from 1 by descending gain.
Axis component_axis(Index components);

/// Notes in Fields that the wave chain omits the position term and the soft cap, which act on scores later.
std::vector<Field> before_position_term(std::vector<Field> fields, const Stack& stack);

/// Heads of a job for analyses of the wave chain, in the order of the grid's rows.
struct ChainHeads {
  std::vector<ChainHead> heads;
};

/// In a job it gives Fields qk_svd/... and phase_rotation/...; prepare() keeps ChainHeads.
extern const AnalysisKind qk_svd_analysis;

}  // namespace headwave
