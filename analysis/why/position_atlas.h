#pragma once

#include <cstdint>
#include <vector>

#include "../../core/fields/field.h"
#include "../../core/model/model.h"
#include "../../core/numbers/fft.h"
#include "../../core/numbers/matrix.h"
#include "../pass/job_options.h"

namespace headwave {

/// The null of the heads of one layer: positions projected on random frames, one for each draw.
struct PositionNull {
  std::vector<MatrixC> spectra;  ///< [draw] (T + 1, d_head) of the centred columns of P Q_draw, padded to 2 T
  std::vector<Matrix> grams;     ///< [draw] (d_head, d_head) of the same columns

  /// @param positions  (T, d_model)
  /// @param d_head     width of the heads to come
  PositionNull(MatrixView positions, Index d_head, Index draws, std::uint64_t seed = 1, int threads = 1);
};

/// Scores of a head between positions alone. T = positions.
struct PositionKernel {
  Vector kernel;           ///< (2 T - 1)  mean score at t = -(T-1) .. T-1, row means removed; without 1/sqrt(d_head)
  Vector with_bias;        ///< (2 T - 1)  the same with b_Q . k_j, which scores of a model have and (1) leaves out
  double toeplitz_r2 = 0;  ///< share of the scores that depends on the offset alone; NaN: all scores are equal
  double other_r2 = 0;     ///< equation (4); NaN: nothing but what a position shares with itself
  Vector null_other_r2;    ///< (draws)  the same under random rotations; empty where toeplitz_r2 is NaN
};

/// Scores between positions, from the weights alone: no text, no forward pass.
///
///     F = P W_Q (P W_K)^T, its row means removed, since the softmax does not see them          (1)
///     kernel[t] = mean of F's diagonal t                                                        (2)
///     R^2 = 1 - |F - Toep F|^2 / |F|^2 = sum_t n_t kernel[t]^2 / |F|^2,  n_t = T - |t|          (3)
///
///     other R^2 = sum_{t != 0} n_t kernel[t]^2 / (|F|^2 - T kernel[0]^2)                        (4)
///
/// with Toep F the matrix of diagonal means. A high R^2 says that position enters as offset. It must be
/// compared with its null, not with 0, since slow waves alone score high: the null turns W_K by random
/// rotations of the residual stream, so that the key side reads other directions with the same gains. With
/// W_K = Q R such a rotation is a random orthonormal frame in the place of Q. (4) leaves out the diagonal: a
/// head that reads the same directions on both sides scores there even where positions have no order at all.
/// F (T x T) and W_Q W_K^T (d x d) are never formed: (1) is A B^T with A, B (T x d_head), its diagonals are
/// cross-correlations, by FFT.
///
/// (1) is without biases, as published; b_Q adds the same b_Q . k_j to every row, which `with_bias`
/// has, its mean over the keys taken away like everything else's.
///
/// Source: Yamamoto and Matsuzaki 2023; Toeplitz share and null are this project's.
/// @param positions  (T, d_model)  what the layer would see of positions, see core/model/layer_positions.h
/// @param null       of the same positions and head width
/// @throws NumericError if an entry is not finite
PositionKernel position_kernel(MatrixView positions, const HeadWeights& head, const PositionNull& null);

struct PositionAtlasOptions {
  std::vector<Index> layers = {};  ///< that are looked at, ascending; empty: all
  Index length = 0;                ///< T, the first so many positions; 0: those that were trained (layer_positions.h)
  Index reach = 64;                ///< offsets are predicted among |t| <= reach, in tokens
  Index draws = 40;                ///< random rotations of the null; 0: no null
  double level = 0.05;             ///< share of the heads given an offset that may be false
  std::uint64_t seed = 1;          ///< of the rotations
  int threads = 0;                 ///< 0: one per core; does not change results
};

/// The weights-only atlas: the offset of every head of a stack, predicted from its weights. No text, no forward pass.
///
/// The mean score of every head at each offset if words were drawn independently,
///
///     kernel(t) = scale (mean of (P W_Q + b_Q) (P W_K)^T along diagonal t, row means removed)
///                 + [t = 0] scale tr(W_Q^T C W_K)                                              (1)
///
/// P the positions averaged over words through the layer's norms, C the covariance of words there
/// (core/model/layer_positions.h): a token shares its word with itself alone, the own-token term. In layer 0 that
/// is what scores are on average; above it a proxy, since the blocks between have changed positions and
/// words. Without word embeddings P is position_kernel()'s and there is no own-token term. Under a causal mask
/// only offsets t <= 0 are predicted.
///
/// An offset is predicted where the maximum does not lie at the end of the search and the weight there is at
/// least twice chance: below it attention, being nearly the same everywhere, need not land there. One other than 0 comes from the order of positions alone: there other_r2, of P
/// without biases, must exceed its null as well (q_value at most the level). At 0 words may be what matches,
/// which no order of positions can tell from chance. Judge a prediction by its weight, not by its Toeplitz
/// share: slow kernels are Toeplitz too, and draw attention nowhere.
///
/// Layers whose projections a partial checkpoint lacks are left out, and those that were not asked for.
/// @returns Fields position_atlas/...; only the first two, undefined with the reason, where the model has no position table;
///         and, of a position term, its kernel by itself: position_term/kernel (head, offset)
/// @throws ShapeError if the table has fewer positions than asked for, or EmbeddingMeans has no words
std::vector<Field> position_atlas(const Stack& stack, const PositionAtlasOptions& options = {});

inline constexpr OwnOption atlas_draws_option{
    "atlas_draws",
    "number of random rotations of the key side that give the null distribution of predicted offsets; 0: no null",
    40,
    3,
    100000,
    true};

}  // namespace headwave
