#pragma once

#include <vector>

#include "../../core/attention/probe.h"
#include "../pass/analysis_kind.h"
#include "value_use.h"

namespace headwave {

/// Measures what heads do with values (value_use.h has the equations) while a document passes by.
///
/// Lengths are had without forming v_j W_O, from the Gram matrix of W_O's rows of a head,
///
///     n_j^2 = v_j G_h v_j^T,  G_h = W_O^h W_O^h^T  (d_value, d_value)                               (6)
///
/// in double, which is d_model / d_value times cheaper for long documents; a length below about 1e-8 |v_j| |W_O^h| is
/// rounding. The weights cost one product and two sums per query-key pair and head. A layer whose values do not come,
/// as of stored documents, is left undefined.
class ValueProbe : public Probe {
 public:
  /// @param document  the one that will pass by
  /// @param kind      the attention that is looked at; others pass unseen
  /// @param reach     largest |t| of norm_weight, in tokens
  /// @throws ShapeError if the reach is negative, or ids and marks of special tokens differ in number
  ValueProbe(HeadGrid grid, const Document& document, AttentionKind kind = AttentionKind::self, Index reach = 64);

  [[nodiscard]] bool wants_values() const override { return true; }

  using Probe::see;
  /// @throws ShapeError if values of that kind have other heads, layers, positions or widths than were announced;
  ///         NumericError if one is not finite: the model computed NaN or infinity
  void see(const LayerValues& values) override;
  /// @throws ShapeError if a tile of that kind has other heads or sequences than were announced; NumericError if a
  ///         weight is not finite
  void see(const Tile& tile) override;
  /// @throws ShapeError if outputs of that kind have other heads, layers or positions than were announced; NumericError
  ///         if one is not finite
  void see(const LayerHeads& heads) override;

  /// What was gathered.
  [[nodiscard]] DocumentValueUse use() const;

 private:
  void add_row(Index row, Index query, Index first, const Eigen::Ref<const Eigen::RowVectorXf>& open,
               const Eigen::Ref<const Eigen::RowVectorXd>& lengths);

  HeadGrid grid_;
  AttentionKind kind_;
  Index reach_;
  Index queries_, keys_;
  bool knows_special_;
  std::vector<Index> special_;      ///< positions of special keys
  Vector subspace_, output_;        ///< (layers)
  Index layer_ = -1;                ///< whose lengths are known; -1: no layer's
  Matrix lengths_;                  ///< (heads, keys)  n_j of that layer
  Matrix trace_, pairs_;            ///< (rows, 2 reach + 1)  sum of N[i, i + t], and how many
  Vector live_, handing_;           ///< (rows)  rows of A, and of N, that are not zero
  Vector weight_first_;             ///< (rows)  sums over these rows
  Vector norm_first_, on_special_;  ///< (rows)
  Eigen::ArrayXd wide_;             ///< (keys)  work space
};

/// In a job: value_use/...
const AnalysisKind& value_use_analysis();

}  // namespace headwave
