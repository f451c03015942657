#pragma once

#include <vector>

#include "../../core/attention/probe.h"
#include "../../core/numbers/random.h"

namespace headwave {

/// The null of the position term: the same scores and weights, with all places but the first in a random order. What
/// stands at query i and key j is read as if it stood at places p(i) and p(j), so a score that depends on how far apart
/// they are no longer does, and one that does not, stays as it is. Under a causal mask the distance alone is relabelled:
/// t = -|p(i) - p(j)|.
class ShuffledPlaces : public Probe {
 public:
  /// Sums over the pairs that are read at an offset t = -reach .. reach.
  struct Draw {
    Matrix scores, squares, weights;  ///< (heads, 2 reach + 1)  scores less their mean over the allowed keys
    Vector pairs;                     ///< (2 reach + 1)
  };

  ShuffledPlaces(Index heads, Index length, Index reach, AttentionKind kind, Index draws, const Random& random);

  [[nodiscard]] bool wants_scores() const override { return true; }
  using Probe::see;
  void see(const Tile& tile) override;

  [[nodiscard]] const std::vector<Draw>& draws() const { return draws_; }

 private:
  /// A pair that is read at column `offset`.
  struct Read {
    Index key, offset;
  };
  /// The pairs of query i that are near in a draw.
  [[nodiscard]] std::vector<Read> reads_of(std::size_t draw, Index i, KeySpan open) const;

  Index length_, reach_;
  bool causal_;
  std::vector<std::vector<Index>> place_, position_;  ///< [draw] (T)  where a position is read, and its inverse
  std::vector<Draw> draws_;
};

}  // namespace headwave
