#pragma once

#include <tuple>
#include <vector>

#include "../../core/attention/probe.h"
#include "../../core/fields/head_grid.h"
#include "../../core/numbers/matrix.h"

namespace headwave {

/// What the account of a layer's heads is made of, summed over documents of T tokens each. s is a scaled score with
/// every position term and rotation, less its mean over the keys that its query may look at: the softmax sees nothing
/// else. Sums along a diagonal, t = -(T-1) .. T-1 in columns, leave its first pair out: query or key 0, the first
/// token, to which attention goes that has no better place.
struct LayerAccountSums {
  Matrix32 query;  ///< (T, heads * d_head)     as they enter the scores: with bias, turned
  Matrix32 key;    ///< (T, kv_heads * d_head)
  Matrix scores;   ///< (heads, 2 T - 1)        sum over i of s[i, i+t]
  Matrix squares;  ///< (heads, 2 T - 1)        sum over i of s[i, i+t]^2
  Matrix weights;  ///< (heads, 2 reach + 1)    sum over i of A[i, i+t]
  template <class Self>
  static auto members(Self& self) {
    return std::tie(self.query, self.key, self.scores, self.squares, self.weights);
  }
  LayerAccountSums& operator+=(const LayerAccountSums& other);
  LayerAccountSums& operator-=(const LayerAccountSums& other);
};

/// One for each layer of a HeadGrid.
struct AccountSums {
  Index documents = 0;
  std::vector<LayerAccountSums> layers;
  template <class Self>
  static auto members(Self& self) {
    return std::tie(self.documents, self.layers);
  }
  /// What is empty takes the other's shape.
  AccountSums& operator+=(const AccountSums& other);
};

/// Sums one document up while it passes by: O(T) numbers for each head.
class AccountProbe : public Probe {
 public:
  /// @param length  T: layers of other lengths are not looked at
  /// @param reach   largest |t| at which weights are kept, in tokens
  /// @param scores  false: weights alone
  AccountProbe(HeadGrid grid, Index length, Index reach, AttentionKind kind, bool scores = true);

  [[nodiscard]] bool wants_scores() const override { return scores_; }
  [[nodiscard]] bool wants_projections() const override { return scores_; }
  using Probe::see;
  void see(const LayerProjections& projections) override;
  void see(const Tile& tile) override;

  [[nodiscard]] AccountSums taken();

 private:
  /// @returns null for a layer that is not looked at
  LayerAccountSums* layer_of(Index layer, AttentionKind kind);

  HeadGrid grid_;
  Index length_, reach_;
  AttentionKind kind_;
  bool scores_;
  AccountSums sums_;
};

}  // namespace headwave
