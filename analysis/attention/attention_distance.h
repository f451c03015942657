#pragma once

#include <utility>
#include <vector>

#include "../../core/fields/field.h"
#include "../../core/fields/head_name.h"
#include "../../core/numbers/matrix.h"
#include "../pass/analysis.h"

namespace headwave {

/// Bins of the distance |t| between query and key, in tokens. Small distances have one bin each. Beyond them,
/// there are four bins for every doubling of the distance.
struct DistanceBins {
  std::vector<Index> first, last;  ///< smallest and largest distance of each bin; bins ascend from 0 without gaps

  [[nodiscard]] Index count() const { return std::ssize(first); }
  /// Keeps the longer list of bins, since sums of longer documents have more bins.
  void add(DistanceBins&& next) {
    if (next.count() > count()) *this = std::move(next);
  }
};

/// Attention weights of a block of documents, summed by distance. Pairs with a special or first token are
/// summed separately, since a cache that forgets distant tokens keeps these tokens. Others are called regular
/// pairs.
struct DistanceBlock {
  Matrix regular;  ///< (rows, bins)    sum of the weights of regular pairs
  Matrix pairs;    ///< (layers, bins)  number of regular pairs
  Matrix kept;     ///< (rows, 1)       sum of all weights
};

struct DistanceSum {
  DistanceBins bins;
  std::vector<DistanceBlock> blocks;
  Matrix weight;  ///< (rows, bins)    sum of the weights of all pairs
  Matrix pairs;   ///< (layers, bins)  number of all pairs
};

/// The points at which (2) and (3) are evaluated.
struct DistanceOptions {
  std::vector<double> shares{0.9, 0.95, 0.99};  ///< s of (2): shares of attention that a window must hold
  std::vector<Index> recent;                    ///< w of (3), in tokens; empty: 64, 256, ... up to the largest distance
};

/// Measures how far heads look.
///
///     apart       = weights of pairs with a special or first token / all weights = held(0)
///     held(w)     = (weights apart + regular weights with |t| < w) / all weights                    (1)
///     window(s)   = the smallest w with held(w) >= s                                                (2)
///     distant(w)  = regular weights with |t| >= w / all weights                                     (3)
///
/// Weights are taken as uniform within a bin, so a window (2) need not be a whole number. A cache that keeps
/// the special tokens, the first token and the last w tokens loses the share (3) of the attention. Slashes
/// are the distances at which regular pairs have the largest mean weights. Only distances with at least a
/// quarter as many regular pairs as the most frequent distance can be slashes. A slash is given as the
/// smallest distance of its bin. Standard errors leave out one block of documents at a time.
///
/// Source: Xiao et al. 2024, arXiv:2309.17453, for the cache; Jiang et al. 2024, arXiv:2407.02490, for
/// slashes; this project for (2) and (3).
/// @param sum       sum over at least one block
/// @param kv_heads  number of key heads of a layer, which divides the number of heads
/// @returns Fields attention_distance/...
std::vector<Field> attention_distances(const DistanceSum& sum, const HeadGrid& grid, Index kv_heads,
                                       const DistanceOptions& options = {});

/// In a job it gives Fields attention_distance/..., from the traces of the run or from stored sums.
extern const AnalysisKind attention_distance_analysis;

}  // namespace headwave
