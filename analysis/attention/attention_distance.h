#pragma once

#include <utility>
#include <vector>

#include "../../core/fields/field.h"
#include "../../core/fields/head_name.h"
#include "../../core/numbers/matrix.h"
#include "../pass/analysis.h"

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

/// Attention weights of some documents, summed by distance. Pairs of a special or a first token are apart: a cache that
/// forgets far tokens keeps those.
struct DistanceBlock {
  Matrix regular;  ///< (rows, bins)    weights of pairs that are not apart
  Matrix pairs;    ///< (layers, bins)  number of these pairs
  Matrix kept;     ///< (rows, 1)       all weights
};

struct DistanceSum {
  DistanceBins bins;
  std::vector<DistanceBlock> blocks;
  Matrix weight;  ///< (rows, bins)    weights of all pairs
  Matrix pairs;   ///< (layers, bins)  number of all pairs
};

/// Which windows and distant shares are asked for.
struct DistanceOptions {
  std::vector<double> shares{0.9, 0.95, 0.99};  ///< s of (2), shares of attention that a window shall hold
  std::vector<Index> recent;  ///< w of (3), in tokens; empty: 64, 256, ... as far as there are distances
};

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
/// least is named. Standard errors leave out one block of documents at a time.
///
/// Source: Xiao et al. 2024, arXiv:2309.17453, for such a cache; Jiang et al. 2024, arXiv:2407.02490, for slashes;
/// (2) and (3) are this project's.
/// @param sum       of one block at least
/// @param kv_heads  of a layer; divides the heads
/// @returns Fields attention_distance/...
std::vector<Field> attention_distances(const DistanceSum& sum, const HeadGrid& grid, Index kv_heads,
                                       const DistanceOptions& options = {});

/// In a job: attention_distance/..., of the traces of a run or of stored sums.
extern const AnalysisKind attention_distance_analysis;

}  // namespace headwave
