#pragma once

#include <cstdint>
#include <vector>

#include "../../core/fields/field.h"
#include "../../core/numbers/matrix.h"
#include "../pass/document_sum.h"

namespace headwave {

/// Moments of one layer's hidden states h[c, t] over D documents of T tokens each, in double from the first
/// sum on.
///
///     position_sum[t] = sum_c h[c, t],   second_sum = sum_{c, t} h[c, t]^T h[c, t]             (1)
///     document_means[c] = mean_t h[c, t]                                                       (2)
///
/// Enough for the balanced two-way split into positions and documents, and for canonical correlations with anything that
/// is the same in every document: O(T d + d^2 + D d) numbers instead of D T d. All documents have one length, or the split
/// would not be balanced.
struct StateMoments {
  Index documents = 0;
  Matrix position_sum;             ///< (T, d_model)
  Matrix second_sum;               ///< (d_model, d_model)  symmetric, not centred
  ByDocument<double> mean_values;  ///< (D * d_model)  document_means(), row by row

  [[nodiscard]] Index length() const { return position_sum.rows(); }
  [[nodiscard]] Index d_model() const { return position_sum.cols(); }
  [[nodiscard]] MatrixView document_means() const { return {mean_values.data(), documents, d_model()}; }
};

/// Of one document.
/// @param states  (T, d_model)  hidden states of one layer, T >= 1
/// @throws NumericError if an entry is not finite
StateMoments state_moments(MatrixView32 states);

struct PositionCorrelationOptions {
  std::vector<Index> truncations{12, 15, 20};  ///< r; those above the rank of the positions are left out
  Index draws = 20;                            ///< shufflings of the positions for the chance level; 0: none
  std::uint64_t seed = 1;                      ///< of the shufflings
  int threads = 1;                             ///< over layers; change no digit
};

/// How much of the positions each layer's hidden states still hold, as canonical correlations: CCA by layer.
///
/// With x the hidden states of all tokens of all documents and y the positions' scores on their first r
/// principal components, both centred, rho^2 are the eigenvalues of
///
///     Syy^-1 Syx Sxx^+ Sxy                                                                      (3)
///     Sxx = second_sum - D T m^T m,   Sxy = sum_t position_sum[t]^T y[t],   Syy = D y^T y        (4)
///
/// since y is the same in every document. Sxx is singular: after a LayerNorm the states satisfy a linear
/// equation, and there may be fewer tokens than columns. With columns scaled to unit variance it is factored
/// as L L^T, at each step the column that those before explain least; columns that are explained up to
/// rounding, the unexplained share of their variance at most
///
///     ((d eps_32)^2 + 64 eps) sum x_j^2 / sum (x_j - m_j)^2,   eps_32 = 2^-23                    (5)
///
/// are dropped: a float32 sum of d terms is no nearer to 0, and a large mean costs digits. What is left spans
/// the same space, and canonical correlations depend on nothing else, so dropping is the pseudoinverse of
/// (3). rho are then the singular values of L^-1 Sxy Syy^(-1/2), computed as such: their squares would lose
/// the small ones.
///
/// The positions are truncated because they may have rank T - 1: then they span every function of the
/// position, and which table it was no longer matters. Canonical correlations are the largest that d columns
/// can reach by chance: they are 1 by construction where D T - 1 tokens do not outnumber the columns, and
/// near 1 where they hardly do. The chance level is the same with the rows of y shuffled, in the same way in
/// every document.
///
/// Source: Hotelling 1936, doi:10.1093/biomet/28.3-4.321; by layer: Yamamoto and Matsuzaki 2023 (English version).
/// Truncation and chance level are this project's.
/// @param layers         at least one, all of one length T, width and number of documents
/// @param layer_numbers  (layers)  what the layers are called
/// @param positions      (T, columns)  what tokens 0 .. T-1 read of the position table; no rows: there is none
/// @returns Fields position_correlation/...; of the first a single NaN with the reason where there are none
/// @throws NumericError if a position is not finite
std::vector<Field> position_correlation(const std::vector<StateMoments>& layers,
                                        const std::vector<Index>& layer_numbers, MatrixView positions,
                                        const PositionCorrelationOptions& options = {});

struct PositionSplitOptions {
  double subspace_share = 0.95;  ///< of the positions' variance that their subspace has to hold, in (0, 1]
  Index low_frequency = 10;      ///< in cycles per T: up to this a wave counts as slow
  int threads = 0;               ///< over layers; 0: one per core; does not change results
};

/// The position/context split: the balanced two-way split of hidden states over documents c and positions t:
///
///     h[c, t] = m + pos_t + ctx_c + res[c, t],   sum_t pos_t = sum_c ctx_c = 0                  (6)
///     pos_t = mean_c h[c, t] - m,   ctx_c = mean_t h[c, t] - m                                  (7)
///     sum h^T h = D T m^T m + D sum_t pos_t^T pos_t + T sum_c ctx_c^T ctx_c + sum res^T res      (8)
///
/// The traces of the last three terms over their sum are the shares of variance about the grand mean m.
///
/// Noise. Let documents be independent and e[c, t] a document's deviation from the expected state at t, less
/// its mean over t. Its mean over c goes into pos_t with E |mean_c e|^2 = E |e|^2 / D, the rest into res with
/// E |e|^2 (1 - 1/D), whatever e's correlations along t. So of the share of pos
///
///     (share of res) / (D - 1)                                                                   (9)
///
/// is expected to be noise: all of it, where no state depends on its position. It is not taken away from
/// anything here. Read the spectrum of pos by layer against it: a wave whose share has sunk that far has
/// died.
///
/// Geometry. The effective rank is the participation ratio (sum s^2)^2 / sum s^4 of pos' singular values; the
/// share at low frequencies counts energy at 0 < f <= low_frequency among all f > 0, both signs. Incoherence:
/// how much of the variance of ctx and of res lies inside pos' first k principal components, beside k / d,
/// which isotropic parts would have there. Noise (9) pulls pos towards the main directions of res and raises
/// it.
///
/// Source: Song and Zhong 2023, arXiv:2310.04861, for (6) and the questions; (9) is worked out here.
/// @param layers         as in position_correlation()
/// @param layer_numbers  (layers)  what the layers are called
/// @returns Fields position_split/..., variance_share first; only that, as NaN with the reason, where there is no split
std::vector<Field> position_split(const std::vector<StateMoments>& layers, const std::vector<Index>& layer_numbers,
                                  const PositionSplitOptions& options = {});

}  // namespace headwave
