#pragma once

#include <utility>
#include <vector>

#include "../../core/fields/field.h"
#include "../../core/fields/head_name.h"
#include "../../core/numbers/matrix.h"
#include "../pass/analysis.h"

namespace headwave {

/// Bins of |t|, the distance between query and key in tokens: single distances, then four bins per doubling.
struct DistanceBins {
  std::vector<Index> first, last;  ///< smallest and largest distance of each bin: ascending from 0, without gaps

  [[nodiscard]] Index count() const { return std::ssize(first); }
  /// Keeps the bins that reach farther: sums of longer documents have more of them.
  void add(DistanceBins&& next) {
    if (next.count() > count()) *this = std::move(next);
  }
};

/// Attention weights of a block of documents, summed by distance. Pairs with a special or a first token are
/// kept apart, because a cache that forgets far tokens keeps these. The other pairs are regular.
struct DistanceBlock {
  Matrix regular;  ///< (rows, bins)    weights of regular pairs
  Matrix pairs;    ///< (layers, bins)  number of regular pairs
  Matrix kept;     ///< (rows, 1)       all weights
};

struct DistanceSum {
  DistanceBins bins;
  std::vector<DistanceBlock> blocks;
  Matrix weight;  ///< (rows, bins)    weights of all pairs
  Matrix pairs;   ///< (layers, bins)  number of all pairs
};

/// The points at which (2) and (3) are evaluated.
struct DistanceOptions {
  std::vector<double> shares{0.9, 0.95, 0.99};  ///< s of (2): shares of attention that a window must hold
  std::vector<Index> recent;                    ///< w of (3), in tokens; empty: 64, 256, ... up to the largest distance
};

/// Measures how far heads look.
///
///     apart       = weights of pairs of a special or first token / all weights = held(0)
///     held(w)     = (weights apart + regular weights with |t| < w) / all weights                    (1)
///     window(s)   = the smallest w with held(w) >= s                                                (2)
///     distant(w)  = regular weights with |t| >= w / all weights                                     (3)
///
/// Within a bin weights are taken as uniform, so the window of (2) can be a fraction. A cache that keeps the
/// first tokens and the last w ones loses (3). Slashes are the distances at which regular pairs have the
/// largest mean weight, among those with at least a quarter as many pairs as the most frequent one. A bin is
/// named after its smallest distance. Standard errors leave out one block of documents at a time.
///
/// Source: Xiao et al. 2024, arXiv:2309.17453, for the cache; Jiang et al. 2024, arXiv:2407.02490, for
/// slashes; (2) and (3) are this project's.
/// @param sum       at least one block
/// @param kv_heads  key heads of a layer; divides the number of heads
/// @returns Fields attention_distance/...
std::vector<Field> attention_distances(const DistanceSum& sum, const HeadGrid& grid, Index kv_heads,
                                       const DistanceOptions& options = {});

/// In a job: attention_distance/..., from the traces of a run or from stored sums.
extern const AnalysisKind attention_distance_analysis;

}  // namespace headwave
