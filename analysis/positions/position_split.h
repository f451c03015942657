#pragma once

#include <cstdint>
#include <vector>

#include "../../core/fields/field.h"
#include "../../core/numbers/matrix.h"
#include "../pass/document_sum.h"

namespace headwave {

/// Moments of one layer's hidden states h[c, t] over D documents c of T tokens each, summed in double.
///
///     position_sum[t] = sum_c h[c, t],   second_sum = sum_{c, t} h[c, t]^T h[c, t]             (1)
///     document_means[c] = mean_t h[c, t]                                                       (2)
///
/// These moments are enough for the balanced two-way split into positions and documents, and for canonical
/// correlations with anything that is the same in every document. They are O(T d + d^2 + D d) numbers instead
/// of D T d. All documents must have one length, since otherwise the split would not be balanced.
struct StateMoments {
  Index documents = 0;
  Matrix position_sum;             ///< (T, d_model)
  Matrix second_sum;               ///< (d_model, d_model)  symmetric, not centred
  ByDocument<double> mean_values;  ///< (D * d_model)  document_means(), row by row

  [[nodiscard]] Index length() const { return position_sum.rows(); }
  [[nodiscard]] Index d_model() const { return position_sum.cols(); }
  [[nodiscard]] MatrixView document_means() const { return {mean_values.data(), documents, d_model()}; }
};

/// Moments of one document.
/// @param states  (T, d_model)  hidden states of one layer, T >= 1
/// @throws NumericError if an entry is not finite
StateMoments state_moments(MatrixView32 states);

struct PositionCorrelationOptions {
  std::vector<Index> truncations{12, 15, 20};  ///< r; truncations above the rank of the positions are left out
  Index draws = 20;                            ///< shufflings of the positions for the chance level; 0: none
  std::uint64_t seed = 1;                      ///< seed of the shufflings
  int threads = 1;                             ///< threads over layers; does not change results
};

/// How much of the positions each layer's hidden states still hold, as canonical correlations (CCA).
///
/// Let x be the hidden states of all tokens of all documents, and y the positions' coordinates on their first
/// r principal components, both centred. The squared correlations rho^2 are the eigenvalues of
///
///     Syy^-1 Syx Sxx^+ Sxy                                                                      (3)
///     Sxx = second_sum - D T m^T m,   Sxy = sum_t position_sum[t]^T y[t],   Syy = D y^T y        (4)
///
/// since y is the same in every document. Sxx is singular, because states satisfy a linear equation after a
/// LayerNorm, and there may be fewer tokens than columns. With columns scaled to unit variance, Sxx is
/// factored as L L^T. Each step takes the column that the earlier columns explain least. Columns are dropped
/// if the share of their variance that is left unexplained is at most
///
///     ((d eps_32)^2 + 64 eps) sum x_j^2 / sum (x_j - m_j)^2,   eps_32 = 2^-23                    (5)
///
/// which is the rounding of a float32 sum of d terms, larger if a large mean m_j costs digits. The other
/// columns span the same space. Canonical correlations depend only on this space, so (3) needs no
/// pseudoinverse. rho are singular values of L^-1 Sxy Syy^(-1/2), since rho^2 would lose small rho.
///
/// The positions are truncated because they may have rank T - 1. Then they span every function of the
/// position, whatever the table was. Canonical correlations are the largest that d columns can reach, also by
/// chance. They are 1 by construction if D T - 1 does not exceed the number of columns, and near 1 if it
/// hardly does. For the chance level, the rows of y are shuffled in the same way in all documents.
///
/// Source: Hotelling 1936, doi:10.1093/biomet/28.3-4.321; by layer: Yamamoto and Matsuzaki 2023 (English
/// version). Truncation and chance level are this project's.
/// @param layers         at least one layer; all have the same T, width and number of documents
/// @param layer_numbers  (layers)  numbers of the layers, for the axis
/// @param positions      (T, columns)  rows of the position table for tokens 0 .. T-1; no rows if none exists
/// @returns Fields position_correlation/...; without correlations only the first, a NaN with the reason
/// @throws NumericError if a position is not finite
std::vector<Field> position_correlation(const std::vector<StateMoments>& layers,
                                        const std::vector<Index>& layer_numbers, MatrixView positions,
                                        const PositionCorrelationOptions& options = {});

struct PositionSplitOptions {
  double subspace_share = 0.95;  ///< share of the positions' variance that their subspace has to hold, in (0, 1]
  Index low_frequency = 10;      ///< largest frequency that counts as low, in cycles per T
  int threads = 0;               ///< threads over layers; 0: one per core; does not change results
};

/// Position/context split: the balanced two-way split of hidden states over documents c and positions t.
///
///     h[c, t] = m + pos_t + ctx_c + res[c, t],   sum_t pos_t = sum_c ctx_c = 0                  (6)
///     pos_t = mean_c h[c, t] - m,   ctx_c = mean_t h[c, t] - m                                  (7)
///     sum h^T h = D T m^T m + D sum_t pos_t^T pos_t + T sum_c ctx_c^T ctx_c + sum res^T res      (8)
///
/// The traces of the last three terms over their sum are the shares of variance about the grand mean m.
///
/// Noise. Let documents be independent, and let e[c, t] be a document's deviation from the expected state at
/// t, less its mean over t. The mean of e over c becomes part of pos_t, with E |mean_c e|^2 = E |e|^2 / D.
/// The rest becomes part of res, with E |e|^2 (1 - 1/D), whatever the correlations of e along t. So the share
/// of pos that is expected to be noise is
///
///     (share of res) / (D - 1)                                                                   (9)
///
/// This is all of pos if no state depends on its position. It is not subtracted from any result. Compare the
/// spectrum of pos in each layer with (9): a wave whose share has sunk to (9) is lost.
///
/// Geometry. The effective rank is the participation ratio (sum s^2)^2 / sum s^4 of the singular values s of
/// pos. The low-frequency share is the energy at 0 < f <= low_frequency divided by the energy at all f > 0,
/// with both signs of f counted. The overlaps (incoherence) are the shares of the variance of ctx and of res
/// inside the first k principal components of pos. Isotropic parts would have k / d there. Noise (9) pulls
/// pos towards the main directions of res and so raises the overlap.
///
/// Source: Song and Zhong 2023, arXiv:2310.04861, for (6) and the questions; this project for (9).
/// @param layers         as in position_correlation()
/// @param layer_numbers  (layers)  numbers of the layers, for the axis
/// @returns Fields position_split/..., variance_share first; without a split only this, a NaN with the reason
std::vector<Field> position_split(const std::vector<StateMoments>& layers, const std::vector<Index>& layer_numbers,
                                  const PositionSplitOptions& options = {});

}  // namespace headwave
