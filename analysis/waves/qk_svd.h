#pragma once

#include <complex>
#include <vector>

#include "../../core/fields/head_name.h"
#include "../../core/model/model.h"
#include "../../core/numbers/fft.h"
#include "../../core/numbers/matrix.h"
#include "../pass/analysis.h"

namespace headwave {

/// Pairs of residual-stream directions that a head matches, by descending gain. k = numerical rank of W_Q
/// W_K^T.
struct QkSvd {
  Vector gain;        ///< (min(d_head, d_model))  all singular values, descending; without 1/sqrt(d_head)
  Matrix query;       ///< (d_model, k)  orthonormal columns read on the query side
  Matrix key;         ///< (d_model, k)  orthonormal columns read on the key side
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
/// d_head core R_q R_k^T is decomposed, O(d_model d_head^2). Beyond (2) directions are whatever rounding made
/// of them, and are not given. `from_query` = W_K^T key / gain and `from_key` = W_Q^T query / gain turn
/// queries and keys that are already there into the redefined ones. Biases and rotary phases are outside (1).
/// The largest entry of each query column is positive, so results compare between runs.
///
/// Source: Yamamoto and Matsuzaki 2023, section 3.3.
/// @param w_query  (d_model, d_head)  acts on row vectors: q = x w_query
/// @param w_key    (d_model, d_head)
/// @throws ShapeError if shapes differ or are empty; NumericError if an entry is not finite
QkSvd qk_svd(MatrixView w_query, MatrixView w_key);

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

/// One head's directions and phases, which the chain reads for every document. k = numerical rank, d_head or
/// less.
struct ChainHead {
  QkSvd svd;       ///< its (d_model, k) bases left empty to save memory
  Index rank = 0;  ///< k
  PhaseRotation rotation;
};

/// qk_svd() and phase_rotation() of every head of the layers looked at, rows as in HeadGrid.
/// @throws ShapeError, NumericError as those do
std::vector<ChainHead> chain_heads(const Stack& stack, const HeadGrid& grid, int threads);

/// Components of a head's redefined queries and keys, counting from 1 in the order of their gain.
Axis component_axis(Index components);

/// Notes in Fields that the chain omits a rotary or additive position term, which acts later.
std::vector<Field> before_position_term(std::vector<Field> fields, const Stack& stack);

/// The heads of a job, for analyses of the wave chain.
struct ChainHeads {
  std::vector<ChainHead> heads;  ///< rows of the grid
};

/// In a job: qk_svd/... and phase_rotation/... of the weights, and ChainHeads before the documents.
extern const AnalysisKind qk_svd_analysis;

}  // namespace headwave
