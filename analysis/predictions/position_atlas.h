#pragma once

#include <string>
#include <vector>

#include "../../core/fields/field.h"
#include "../../core/fields/head_grid.h"
#include "../../core/model/model.h"
#include "../../core/model/random_documents.h"
#include "../pass/analysis_kind.h"
#include "../statistics/predicted_status.h"
#include "position_kernel.h"

namespace headwave {

struct PositionAtlasOptions {
  std::vector<Index> layers;  ///< that are looked at, ascending; empty: all
  Index length = 0;           ///< T, the first so many positions; 0: those that were trained (trained_rows.h)
  Index reach = 64;           ///< offsets are predicted among |t| <= reach, in tokens
  WordChances words;          ///< that positions are averaged over; without ids every word of the model alike
  PositionNullOptions null;
  double least_times = 2;  ///< a prediction's weight is at least so many times chance: below it attention, being nearly
                           ///< the same everywhere, need not land there
  int threads = 0;         ///< 0: one per core; changes no digit
};

/// The weights-only atlas: what every head of a stack would do if nothing but weights were known. No text, no pass.
struct PositionAtlas {
  HeadGrid grid;
  Index length = 0;            ///< T
  Index reach = 0;             ///< tokens, at most T - 1
  Matrix kernel;               ///< (rows, 2 reach + 1)  equation (1)
  Vector self_term;            ///< (rows)  what of kernel[0] words share with themselves
  Vector toeplitz_r2;          ///< (rows)
  Vector other_r2;             ///< (rows)  without what a position shares with itself: what decides
  Vector null_median;          ///< (rows)  of toeplitz_r2
  Vector null_quantile;        ///< (rows)  of toeplitz_r2
  Vector other_null_quantile;  ///< (rows)  of other_r2
  Vector key_only_share;       ///< (rows)
  Vector p_value;              ///< (rows)  chance of such an other_r2 under random rotations, all heads' draws pooled
  Vector q_value;              ///< (rows)  p_value adjusted for the number of heads
  Vector estimate;             ///< (rows)  argmax of the kernel, in tokens; NaN: it lies at the end of the search
  Vector weight;               ///< (rows)  softmax of the kernel over the offsets searched, at that argmax
  Vector chance;               ///< (rows)  the same of a flat kernel: one part for each offset searched
  Vector offset;               ///< (rows)  estimate where `status` says that it is one; NaN elsewhere
  std::vector<PredictedStatus> status;  ///< (rows)
  std::string undefined;                ///< why there is no atlas; empty where there is
  PositionAtlasOptions options;
};

/// What every head would score at an offset if words were drawn independently,
///
///     kernel(t) = scale (mean of (P W_Q + b_Q) (P W_K)^T along diagonal t, row means removed)
///                 + [t = 0] scale tr(W_Q^T C W_K)                                              (1)
///
/// P the positions averaged over words through the layer's norms, C the covariance of words there
/// (core/model/embedding_means.h): a token shares its word with itself alone, the self term. In layer 0 that is what
/// scores are on average; above it a proxy, since the blocks between have changed positions and words. Without word
/// embeddings P is position_kernel()'s and there is no self term. Under a causal mask only offsets t <= 0 are predicted.
///
/// An offset is predicted where the maximum does not lie at the end of the search and the weight there is at least
/// `least_times` chance. One other than 0 comes from the order of positions alone: there other_r2, of P without biases,
/// must leave its null behind as well (q_value at most the level). At 0 words may be what matches, which no order of
/// positions can tell from chance. How much a prediction says is its weight, not its Toeplitz share: slow kernels are
/// Toeplitz too, and draw attention nowhere.
///
/// Layers whose projections a partial checkpoint lacks are left out, and those that were not asked for.
/// @returns an atlas whose `undefined` says why, where the model has no position table
/// @throws ShapeError if the table has fewer positions than asked for; ShapeError, NumericError as EmbeddingMeans of words
PositionAtlas position_atlas(const Stack& stack, const PositionAtlasOptions& options = {});

/// Fields position_atlas/...; only the first two, undefined with the reason, where there is no atlas.
std::vector<Field> describe(const PositionAtlas& atlas);

/// The kernel of a position term by itself, position_term/kernel (head, kernel_offset); none where there is no
/// term.
std::vector<Field> position_term_fields(const Stack& stack, Index reach);

/// In a job: position_atlas/..., position_term/..., a PositionAtlas for those who compare.
const AnalysisKind& position_atlas_analysis();

}  // namespace headwave
