#pragma once

#include <cstdint>
#include <vector>

#include "../../core/fields/field.h"
#include "../../core/model/model.h"
#include "../../core/numbers/fft.h"
#include "../../core/numbers/matrix.h"
#include "../pass/job_options.h"

namespace headwave {

/// Null for the heads of one layer: in each draw, positions P are projected on a random orthonormal frame Q.
struct PositionNull {
  std::vector<MatrixC> spectra;  ///< [draw] (T + 1, d_head)  spectra of the centred columns of P Q, padded to 2 T
  std::vector<Matrix> grams;     ///< [draw] (d_head, d_head)  Gram matrix of these columns

  /// @param positions  (T, d_model)
  PositionNull(MatrixView positions, Index d_head, Index draws, std::uint64_t seed = 1, int threads = 1);
};

/// Scores of a head between T positions, without words.
struct PositionKernel {
  Vector kernel;           ///< (2 T - 1)  equation (2) at t = -(T-1) .. T-1
  Vector with_bias;        ///< (2 T - 1)  the same with b_Q . k_j in the scores
  double toeplitz_r2 = 0;  ///< equation (3); NaN: all scores are equal
  double other_r2 = 0;     ///< equation (4); NaN: nothing is left without the diagonal
  Vector null_other_r2;    ///< (draws)  (4) under random rotations; empty if toeplitz_r2 is NaN
};

/// Kernel of a head between positions, computed from the model's weights without a text or a forward pass.
///
///     F = P W_Q (P W_K)^T, its row means removed, since the softmax does not see them          (1)
///     kernel[t] = mean of F's diagonal t                                                        (2)
///     R^2 = 1 - |F - Toep F|^2 / |F|^2 = sum_t n_t kernel[t]^2 / |F|^2,  n_t = T - |t|          (3)
///
///     other R^2 = sum_{t != 0} n_t kernel[t]^2 / (|F|^2 - T kernel[0]^2)                        (4)
///
/// In Toep F, every entry is replaced by the mean of its diagonal. A high R^2 says that scores depend on the
/// offset. Slow waves alone give a high R^2, so R^2 must be compared with its null and not with 0. The null
/// applies random rotations of the residual stream to W_K, so that keys read other directions with the same
/// gains. With W_K = Q R, such a rotation replaces Q by a random orthonormal frame. (4) omits the diagonal,
/// where a head whose queries and keys read the same directions has high scores even if positions have no
/// order. F (T x T) and W_Q W_K^T (d x d) are never formed: (1) is A B^T with A, B (T x d_head), and its
/// diagonals are cross-correlations, computed by FFT.
///
/// (1) omits biases, as published. `with_bias` adds b_Q . k_j, less its mean over j, to every row.
///
/// Source: Yamamoto and Matsuzaki 2023; Toeplitz share and null are this project's.
/// @param positions  (T, d_model)  positions as the layer sees them, see core/model/layer_positions.h
/// @param null       null of the same positions and the same d_head
/// @throws NumericError if an entry is not finite
PositionKernel position_kernel(MatrixView positions, const HeadWeights& head, const PositionNull& null);

struct PositionAtlasOptions {
  std::vector<Index> layers = {};  ///< layers to predict, ascending; empty: all
  Index length = 0;                ///< T, the number of positions; 0: all trained positions (layer_positions.h)
  Index reach = 64;                ///< largest |t| that is predicted, in tokens
  Index draws = 40;                ///< random rotations of the null; 0: no null
  double level = 0.05;             ///< false discovery rate of predicted offsets
  std::uint64_t seed = 1;
  int threads = 0;  ///< 0: one per core; does not change results
};

/// The atlas: predicts the offset of every head of a stack from the model's weights, without a text.
///
/// The kernel of a head is its mean score at each offset if words were drawn independently:
///
///     kernel(t) = scale (mean of (P W_Q + b_Q) (P W_K)^T along diagonal t, row means removed)
///                 + [t = 0] scale tr(W_Q^T C W_K)                                              (1)
///
/// P are the positions after the layer's norms, averaged over words, and C is the covariance of words after
/// these norms (core/model/layer_positions.h). The last term is the own-token term: query and key are certain
/// to share their word only at t = 0. In layer 0, (1) is the mean score. In higher layers it is a proxy,
/// because earlier blocks have changed positions and words. Without word embeddings P is layer_positions(),
/// and the own-token term is 0. Under a causal mask only offsets t <= 0 are predicted.
///
/// An offset is predicted if the kernel's maximum is not at the end of the search and its weight is at least
/// twice chance. The weight is the softmax of the kernel over the offsets searched; a weaker kernel leaves
/// attention nearly uniform. Offsets other than 0 come from the order of positions, so other_r2 must also
/// exceed its null (q_value <= level). At offset 0 words may match, which this null does not test. Judge a
/// prediction by its weight and not by toeplitz_r2, which is high for slow kernels, too.
///
/// Layers whose projections a partial checkpoint lacks are omitted.
/// @returns Fields position_atlas/...; if the stack allows no prediction, only the first two of them,
///          undefined. If the model has a position term, also its kernel, position_term/kernel (head, offset)
/// @throws ShapeError if the table has fewer positions than asked for; or any error of EmbeddingMeans
std::vector<Field> position_atlas(const Stack& stack, const PositionAtlasOptions& options = {});

inline constexpr OwnOption atlas_draws_option{
    "atlas_draws",
    "number of random rotations of the key side that give the null distribution of predicted offsets; 0: no null",
    40,
    3,
    100000,
    true};

}  // namespace headwave
