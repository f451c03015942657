#pragma once

#include <tuple>
#include <vector>

#include "../../core/attention/document.h"
#include "../../core/attention/probe.h"
#include "../../core/fields/field.h"
#include "../../core/fields/head_name.h"
#include "../../core/numbers/matrix.h"
#include "../pass/analysis_kind.h"

namespace headwave {

/// How heads use values: means over the documents in which a quantity is defined. NaN: defined in no
/// document.
///
///     D_sub = -1/H^2 sum_{a,b} cos(V_a, V_b),  D_out = -1/H^2 sum_{a,b} cos(O_a, O_b)                (1)
///     n_j = |(x_j W_V + b_V) W_O^h|                                                                  (2)
///     N[i, j] = A[i, j] n_j / sum_k A[i, k] n_k                                                      (3)
///     norm_weight[t] = mean of N[i, i + t] over the pairs (i, i + t) that the mask allows            (4)
///     norm_offset = argmax_t norm_weight[t],  |t| <= reach, |t| <= (T-1)/2                            (5)
///
/// In (1), one number per layer between -1 (all heads alike) and about 0, V_a are a head's values and O_a =
/// A_a V_a its outputs before W_O, each a matrix (positions, channels) of the whole document: cos is their
/// Frobenius inner product over their Frobenius norms, the cosine of the flattened matrices. A zero matrix
/// has cosine 0 with all. Heads that share a key-value head have the same V and cosine 1: with kv key-value
/// heads D_sub is at most -1/kv where no cosine is negative. The third measure of the source, the
/// disagreement of positions, is position_disagreement/mean.
///
/// (2) and (3) are norm-based attention. (2) is the length of what key j hands on, A[i, j] n_j that of what
/// reaches query i; (3) lets every query hand out 1 as a softmax does. A key may get much weight and hand
/// over nothing: `norm_first`, the mean of N on the first key, beside `weight_first`, the same of A, tells
/// whether small values cancel a sink. Rows of zeros are left out. In (5) the lesser |t| wins a tie, then the
/// left, and T is the longest document. W_O's bias belongs to no head and is left out, as are the residual
/// connection and the norms that follow: lengths do not say whether vectors cancel.
///
/// Source: Li et al. 2018 (1), where neither flattening nor norm is given; Kobayashi et al. 2020 (2), not normalised
/// there; (3) to (5) are this project's.
struct ValueUse {
  HeadGrid grid;
  AttentionKind kind = AttentionKind::self;
  Index reach = 0;  ///< largest |t| of norm_weight, in tokens
  Index documents = 0;
  Index length = 0;              ///< T of the longest document
  Vector subspace_disagreement;  ///< (layers)  equation (1)
  Vector output_disagreement;    ///< (layers)  equation (1)
  Matrix norm_weight;            ///< (rows, 2 reach + 1)  equation (4)
  Vector norm_offset;            ///< (rows)  equation (5), in tokens; NaN also: at the end of the search
  Vector norm_first;             ///< (rows)  mean over queries of N on key 0
  Vector weight_first;           ///< (rows)  mean over queries of A on key 0
  Vector norm_special;           ///< (rows)  mean over queries of N on special tokens
};

/// How heads use values, summed over documents.
struct ValueUseSum {
  Index documents = 0;
  Largest<Index> length;  ///< T of queries or keys, whichever is longer
  DefinedMean layers;     ///< (layers, 2)  subspace_disagreement, output_disagreement
  DefinedMean weights;    ///< (rows, 2 reach + 1)  norm_weight
  DefinedMean scores;     ///< (rows, 3)  norm_first, weight_first, norm_special
  template <class Self>
  static auto members(Self& self) {
    return std::tie(self.documents, self.length, self.layers, self.weights, self.scores);
  }
};

/// Means over documents.
/// @param sum  of at least one document
ValueUse value_use(const ValueUseSum& sum, const HeadGrid& grid, AttentionKind kind = AttentionKind::self);

/// Fields value_use/...
std::vector<Field> describe(const ValueUse& use);

/// Measures ValueUse over one document.
///
/// Lengths are computed without forming v_j W_O, from the Gram matrix of the rows of W_O that belong to a
/// head,
///
///     n_j^2 = v_j G_h v_j^T,  G_h = W_O^h W_O^h^T  (d_value, d_value)                               (6)
///
/// in double, which is d_model / d_value times cheaper for long documents; a length below about 1e-8 |v_j|
/// |W_O^h| is rounding. The weights cost one product and two sums per query-key pair and head. Layers without
/// values, as in stored documents, stay undefined.
class ValueProbe : public Probe {
 public:
  /// @param document  the document that will be seen
  /// @param kind      the kind of attention to look at; other kinds are ignored
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

  [[nodiscard]] ValueUseSum taken() const;

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
  Index layer_ = -1;                ///< layer whose value lengths are known; -1: none
  Matrix lengths_;                  ///< (heads, keys)  n_j of that layer
  Matrix trace_, pairs_;            ///< (rows, 2 reach + 1)  sum of N[i, i + t], and how many
  Vector live_, handing_;           ///< (rows)  number of rows of A, and of N, that are not zero
  Vector weight_first_;             ///< (rows)  sums over these rows
  Vector norm_first_, on_special_;  ///< (rows)
  Eigen::ArrayXd wide_;             ///< (keys)  work space
};

/// In a job: value_use/...
const AnalysisKind& value_use_analysis();

}  // namespace headwave
