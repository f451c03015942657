#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "../../core/fields/field.h"
#include "../../core/numbers/matrix.h"
#include "../pass/analysis_kind.h"
#include "state_moments.h"

namespace headwave {

/// Hidden states against anything that is the same in every document: with L the Cholesky factor of the
/// covariance Sxx of one layer's independent columns,
///
///     W = L^-1 (mean over documents of x_t, less its mean over t, columns scaled) sqrt(D)      (1)
///
/// L^-1 Sxy Syy^(-1/2) of y (T, k) with orthonormal columns is W y: its singular values are the canonical
/// correlations. Columns are chosen by what is left of their variance, the largest first, until none has more
/// than its rounding.
///
/// @returns (variables, T)  as many rows as there are independent columns
/// @throws NumericError if the moments are not finite
Matrix whitened_positions(const StateMoments& layer);

struct PositionCorrelationOptions {
  std::vector<Index> truncations{12, 15, 20};  ///< r, ascending; those above the rank of the positions are left out
  Index draws = 20;                            ///< shufflings of the positions for the chance level; 0: none
  std::uint64_t seed = 1;                      ///< of the shufflings
  int threads = 1;                             ///< over layers; change no digit
};

/// Canonical correlations between each layer's hidden states and the positions. Rows are (layer, truncation),
/// layers outermost; columns are components, the largest correlation first; NaN beyond min(r, variables).
struct PositionCorrelation {
  std::vector<Index> layers;
  std::vector<Index> truncations;  ///< r
  Matrix correlation;              ///< (layers * truncations, largest r)  in [0, 1]
  Matrix chance_mean;     ///< (layers * truncations, largest r)  positions shuffled: mean over draws; NaN: no draws
  Matrix chance_largest;  ///< (layers * truncations, largest r)  and the largest over draws
  std::vector<Index> variables;  ///< (layers)  linearly independent columns of the hidden states
  Index documents = 0;           ///< D
  Index length = 0;              ///< T
  Index d_model = 0;             ///< d
  Index rank = 0;                ///< of the centred positions
  std::string undefined;         ///< why there are no correlations; otherwise empty
  PositionCorrelationOptions options;
};

/// How much of the positions each layer's hidden states still hold, as canonical correlations: CCA by layer.
///
/// With x the hidden states of all tokens of all documents and y the positions' scores on their first r
/// principal components, both centred, rho^2 are the eigenvalues of
///
///     Syy^-1 Syx Sxx^+ Sxy                                                                      (1)
///     Sxx = second_sum - D T m^T m,   Sxy = sum_t position_sum[t]^T y[t],   Syy = D y^T y        (2)
///
/// since y is the same in every document. Sxx is singular: after a LayerNorm the states satisfy a linear
/// equation, and there may be fewer tokens than columns. With columns scaled to unit variance it is factored
/// as L L^T, at each step the column that those before explain least; columns that are explained up to
/// rounding, the unexplained share of their variance at most
///
///     ((d eps_32)^2 + 64 eps) sum x_j^2 / sum (x_j - m_j)^2,   eps_32 = 2^-23                    (3)
///
/// are dropped: a float32 sum of d terms is no nearer to 0, and a large mean costs digits. What is left spans
/// the same space, and canonical correlations depend on nothing else, so dropping is the pseudoinverse of
/// (1). rho are then the singular values of L^-1 Sxy Syy^(-1/2), computed as such: their squares would lose
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
/// @throws ShapeError if sizes differ or a truncation is below 1; NumericError if an entry is not finite
PositionCorrelation position_correlation(const std::vector<StateMoments>& layers,
                                         const std::vector<Index>& layer_numbers, MatrixView positions,
                                         const PositionCorrelationOptions& options = {});

/// Fields position_correlation/correlation, chance_mean, chance_largest and variables; of the first a single
/// NaN with the reason where there are no correlations.
std::vector<Field> describe(const PositionCorrelation& correlations);

/// In a job: position_correlation/...
const AnalysisKind& position_correlation_analysis();

}  // namespace headwave
