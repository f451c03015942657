#pragma once

#include <utility>
#include <vector>

#include "../../core/fields/field.h"
#include "../../core/fields/head_name.h"
#include "../../core/numbers/matrix.h"
#include "../pass/analysis_kind.h"
#include "offset_trace.h"

namespace headwave {

/// Distances |t| between query and key, in tokens: one by one up to some, then in four bins for each doubling.
struct DistanceBins {
  std::vector<Index> first, last;  ///< of each bin, ascending from 0, without gaps

  [[nodiscard]] Index count() const { return std::ssize(first); }
  /// Bins of several sums, of which one may know larger distances.
  void add(DistanceBins&& next) {
    if (next.count() > count()) *this = std::move(next);
  }
};

/// Attention weights of documents, summed by distance. Pairs of a special or a first token are apart: a cache that
/// forgets far tokens keeps those.
struct DistanceSum {
  DistanceBins bins;
  std::vector<Matrix> regular;        ///< [block] (rows, bins)    weights of pairs that are not apart
  std::vector<Matrix> regular_pairs;  ///< [block] (layers, bins)  number of these pairs
  std::vector<Matrix> kept;           ///< [block] (rows, 1)       all weights
  Matrix weight;                      ///< (rows, bins)            weights of all pairs
  Matrix pairs;                       ///< (layers, bins)          number of all pairs
};

/// Numbers of heads, and their standard errors.
struct HeadEstimates {
  Matrix value;  ///< (rows, columns)
  Matrix error;  ///< (rows, columns)  by leaving out one block of documents at a time; NaN: fewer than two blocks
};

/// Which windows and distant shares are asked for.
struct DistanceOptions {
  std::vector<double> shares{0.9, 0.95, 0.99};  ///< s of (2), shares of attention that a window shall hold
  std::vector<Index> recent;  ///< w of (3), in tokens; empty: 64, 256, ... as far as there are distances
};

/// Slashes of a head.
inline constexpr Index most_slashes = 8;

/// How far heads look.
///
///     apart       = weights of pairs of a special or first token / all weights = held(0)
///     held(w)     = (weights apart + regular weights with |t| < w) / all weights                    (1)
///     window(s)   = the smallest w with held(w) >= s                                                (2)
///     distant(w)  = regular weights with |t| >= w / all weights                                     (3)
///
/// Within a bin weights are taken as even, so that (2) may lie between two tokens. A cache that keeps the first
/// tokens and the last w ones loses (3). Slashes are the distances at which a regular pair has the largest mean
/// weight, of those with at least a quarter of the pairs of the most frequent one; of a bin of several distances the
/// least is named.
///
/// Source: Xiao et al. 2024, arXiv:2309.17453, for such a cache; Jiang et al. 2024, arXiv:2407.02490, for slashes;
/// (2) and (3) are this project's.
struct AttentionDistances {
  HeadGrid grid;
  Index kv_heads = 0;          ///< key heads of a layer
  std::vector<double> shares;  ///< s of (2)
  DistanceBins bins;
  Matrix weight;               ///< (rows, bins)  mean weight of all pairs at that distance; NaN: no pair
  Matrix held;                 ///< (rows, bins)  (1), up to the end of each bin
  std::vector<Index> recent;   ///< w of (3), in tokens
  HeadEstimates apart;         ///< (rows, 1)
  HeadEstimates window;        ///< (rows, shares)
  HeadEstimates distant;       ///< (rows, recent)
  HeadEstimates group_window;  ///< (layers * kv_heads, shares)  the largest of the query heads of a key head
  HeadEstimates group_distant;
  Matrix slash_distance;  ///< (rows, most_slashes)  the largest mean weight first; NaN: there are fewer distances
  HeadEstimates slash;    ///< (rows, most_slashes)  mean weight of regular pairs at that distance
};

/// Traces of a run as such a sum, of one block.
DistanceSum distance_sum(const OffsetTraces& traces);

/// @param sum       of one block at least
/// @param kv_heads  of a layer; divides the heads
AttentionDistances attention_distances(const DistanceSum& sum, const HeadGrid& grid, Index kv_heads,
                                       const DistanceOptions& options = {});

/// Fields attention_distance/...
std::vector<Field> describe(const AttentionDistances& distances);

/// In a job: attention_distance/...
const AnalysisKind& attention_distance_analysis();

}  // namespace headwave
