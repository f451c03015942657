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
/// d_head core R_q R_k^T is decomposed, O(d_model d_head^2). Directions beyond (2) are rounding and are
/// omitted. `from_query` = W_K^T key / gain and `from_key` = W_Q^T query / gain turn existing queries and
/// keys into redefined ones. Biases and rotary phases are outside (1). The largest entry of each query column
/// is positive, so results compare between runs.
///
/// Source: Yamamoto and Matsuzaki 2023, section 3.3.
/// @param w_query  (d_model, d_head)  acts on row vectors: q = x w_query
/// @param w_key    (d_model, d_head)
/// @throws ShapeError if shapes differ or are empty; NumericError if an entry is not finite
QkSvd qk_svd(MatrixView w_query, MatrixView w_key);

/// Phases between what a head's queries and its keys read. k is the head's numerical rank.
struct PhaseRotation {
  Vector phase;       ///< (k)  theta = arg lambda, radian, in (-pi, pi]
  Vector retention;   ///< (k)  |lambda| <= 1, descending; of equals the smaller |phase| first, then the positive phase
  MatrixC direction;  ///< (k, k)  unit columns p, in coordinates of the redefined queries and keys
  double condition = 1;  ///< of `direction`: 1 if M is normal or k = 0; large: single phases mean little
  [[nodiscard]] Index rank() const { return phase.size(); }
  [[nodiscard]] std::complex<double> eigenvalue(Index i) const { return std::polar(retention[i], phase[i]); }
};

/// Eigenvalues of the rotation between a head's query directions and its key directions.
///
///     M = U_Q^T U_K,   M p = lambda p,   lambda = retention e^{i theta}                       (1)
///     K p = lambda Q p + rest,   |U_K p - lambda U_Q p| = sqrt(1 - retention^2) |p|           (2)
///
/// Q = X U_Q and K = X U_K are the redefined queries and keys. If Q p is a wave of f cycles per T tokens, K p
/// is the same wave theta ahead, (K p)[n] = (Q p)[n + Delta] with Delta = T theta / (2 pi f), and attention
/// lands at t* = -Delta. (The extended paper has the opposite sign in equation 25, but not in its heads.)
///
/// The paper's full R = U_Q^T U_K is d_model x d_model, but W_Q W_K^T has rank k. The other columns, and with
/// them most eigenvalues of R, are whatever an SVD routine returns. Those of M are the non-zero ones of the
/// partial isometry U_K U_Q^T: column signs, rotations within equal singular values and a change of basis in
/// the head do not change them. M is not normal; `condition` says how far from normal it is.
///
/// Source: Yamamoto and Matsuzaki 2023, section 3.5, for R; M in its place is this project's.
PhaseRotation phase_rotation(const QkSvd& svd);

/// Amplitude spectra |F[Q p](f)| at f >= 0, for every direction p.
///
/// Directions come with their conjugates q, and |F[Q p](-f)| = |F[Q q](f)|. Therefore f >= 0 with theta in
/// (-pi, pi] is complete, and keeps the sign of the shift.
/// @param spectrum  (floor(T/2) + 1, k)  transform of the redefined queries, or keys
/// @returns (floor(T/2) + 1, k)
/// @throws ShapeError if the spectrum has another number of columns than the rotation
Matrix direction_spectra(const MatrixC& spectrum, const PhaseRotation& rotation);

/// The bin of a phase in (-pi, pi]. Bins have equal width and phase 0 in the middle of one. If their number
/// is even, pi is in the middle of the last one, which holds both ends of the circle.
Index phase_bin(double phase, Index bins);

/// Directions and phases of one head, which the chain reads for every document. k is the numerical rank.
struct ChainHead {
  QkSvd svd;       ///< without its (d_model, k) bases, to save memory
  Index rank = 0;  ///< k
  PhaseRotation rotation;
};

/// qk_svd() and phase_rotation() of every head of the grid.
/// @throws ShapeError, NumericError as these do
std::vector<ChainHead> chain_heads(const Stack& stack, const HeadGrid& grid, int threads);

/// Components of redefined queries and keys, numbered from 1 by descending gain.
Axis component_axis(Index components);

/// Notes in Fields that the chain omits the position term and the soft cap, which act on scores later.
std::vector<Field> before_position_term(std::vector<Field> fields, const Stack& stack);

/// Heads of a job for analyses of the wave chain, in rows of the grid.
struct ChainHeads {
  std::vector<ChainHead> heads;
};

/// In a job: qk_svd/... and phase_rotation/... of the weights; keeps ChainHeads before the documents.
extern const AnalysisKind qk_svd_analysis;

}  // namespace headwave
