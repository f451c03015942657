#pragma once

#include <functional>
#include <string>
#include <vector>

#include "../../core/fields/field.h"
#include "../../core/fields/head_name.h"
#include "../../core/model/head_weights.h"
#include "../../core/numbers/matrix.h"
#include "../pass/analysis_kind.h"
#include "state_moments.h"

namespace headwave {

struct PositionSplitOptions {
  double subspace_share = 0.95;  ///< of the positions' variance that their subspace has to hold, in (0, 1]
  Index low_frequency = 10;      ///< in cycles per T: up to this a wave counts as slow
  int threads = 0;               ///< over heads; 0: one per core; changes no digit
};

/// The heads whose scores are split, the same number in every layer.
struct SplitHeads {
  Index heads = 0;         ///< 0: no scores
  double score_scale = 1;  ///< of the model, usually 1/sqrt(d_head)
  /// Weights by layer number and head, asked for from several threads; an empty query where a layer has no
  /// such head.
  std::function<HeadWeights(Index layer, Index head)> weights;
};

/// The parts of a hidden state: mean, position, context, residual, always in this order.
constexpr Index split_parts = 4;

/// Hidden states of every layer split into positions and contexts. NaN: undefined, see describe().
struct PositionSplit {
  HeadGrid grid;
  Index documents = 0;         ///< D
  Index length = 0;            ///< T
  Index d_model = 0;           ///< d
  Matrix variance_share;       ///< (layers, 3)                 of position, context, residual; rows sum to 1
  Vector noise_share;          ///< (layers)                    (4): what noise alone is expected to put into position
  Matrix spectrum;             ///< (layers, floor(T/2) + 1)    mean over columns of |DFT of pos|, not normalised
  Vector low_frequency_share;  ///< (layers)                    of the energy of pos, at f <= low_frequency
  Vector effective_rank;       ///< (layers)                    of pos
  Vector components;           ///< (layers)                    k, principal components of pos up to subspace_share
  Vector context_overlap;      ///< (layers)                    share of the context's variance inside these k
  Vector residual_overlap;     ///< (layers)                    share of the residual's
  Vector chance_overlap;       ///< (layers)                    k / d
  Vector mean_square_score;    ///< (layers * heads)            denominator of (6)
  Matrix score_share;          ///< (layers * heads, 4 * 4)     query parts outermost; rows sum to 1
  std::string undefined;       ///< why there is no split; otherwise empty
  PositionSplitOptions options;
};

/// The position/context split: the balanced two-way split of hidden states over documents c and positions t:
///
///     h[c, t] = m + pos_t + ctx_c + res[c, t],   sum_t pos_t = sum_c ctx_c = 0                  (1)
///     pos_t = mean_c h[c, t] - m,   ctx_c = mean_t h[c, t] - m                                  (2)
///     sum h^T h = D T m^T m + D sum_t pos_t^T pos_t + T sum_c ctx_c^T ctx_c + sum res^T res      (3)
///
/// The traces of the last three terms over their sum are the shares of variance about the grand mean m.
///
/// Noise. Let documents be independent and e[c, t] a document's deviation from the expected state at t, less
/// its mean over t. Its mean over c goes into pos_t with E |mean_c e|^2 = E |e|^2 / D, the rest into res with
/// E |e|^2 (1 - 1/D), whatever e's correlations along t. So of the share of pos
///
///     (share of res) / (D - 1)                                                                   (4)
///
/// is expected to be noise: all of it, where no state depends on its position. It is not taken away from
/// anything here. Read the spectrum of pos by layer against it: a wave whose share has sunk that far has
/// died.
///
/// Geometry. The effective rank is the participation ratio (sum s^2)^2 / sum s^4 of pos' singular values; the
/// share at low frequencies counts energy at 0 < f <= low_frequency among all f > 0, both signs. Incoherence:
/// how much of the variance of ctx and of res lies inside pos' first k principal components, beside k / d,
/// which isotropic parts would have there. Noise (4) pulls pos towards the main directions of res and raises
/// it.
///
/// Scores. For a query part a of one token and a key part b of another, drawn independently from all tokens,
///
///     E score_ab^2 = scale^2 tr(W_Q^T C_a W_Q W_K^T C_b W_K),   C_a = E a^T a per token          (5)
///     score_share_ab = E score_ab^2 / sum_ab E score_ab^2                                        (6)
///
/// By (3) the sum is the mean squared score of independent tokens, without biases and before any rotation.
/// Tokens that meet in attention are not independent: they share their document, hence ctx, and their
/// distance matters to pos, so (6) describes what a head's weights could use, not the parts of one row of
/// scores. A key part that does not change along a row, mean or context, is invisible to the softmax.
///
/// Source: Song and Zhong 2023, arXiv:2310.04861, for (1) and the questions; (4) to (6) are worked out here.
/// @param layers         at least one, all of one length, width and number of documents
/// @param layer_numbers  (layers)  ascending; what `heads.weights` is asked for
/// @throws ShapeError if sizes differ; NumericError if a moment is not finite or an option is out of range
PositionSplit position_split(const std::vector<StateMoments>& layers, const std::vector<Index>& layer_numbers,
                             const SplitHeads& heads = {}, const PositionSplitOptions& options = {});

/// Fields position_split/..., variance_share first; only that, as NaN with the reason, where there is no
/// split.
std::vector<Field> describe(const PositionSplit& split);

/// In a job: position_split/...
const AnalysisKind& position_split_analysis();

}  // namespace headwave
