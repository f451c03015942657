#pragma once

#include <vector>

#include "../../core/attention/document.h"
#include "../../core/attention/probe.h"
#include "../../core/fields/field.h"
#include "../../core/fields/head_name.h"
#include "../../core/numbers/matrix.h"
#include "../pass/analysis_kind.h"

namespace headwave {

/// How little the heads of a layer look at the same places, summed over documents.
///
///     D_pos = -1/H^2 sum_{a,b} |A_a * A_b|                                                          (1)
///     |A_a * A_b|^2 = sum_ij A_a[i, j]^2 A_b[i, j]^2                                                (2)
///
/// A is a head's attention, * the product entry by entry, |.| the Frobenius norm over the document's whole (queries,
/// keys) matrix, without normalisation: it grows with the document, as sqrt(T) where every query looks at one key, and
/// compares between equal lengths only. 0: no two heads share a place.
///
/// Source: Li et al. 2018, where the norm is not named.
struct PositionDisagreement {
  Index documents = 0;
  DefinedMean layers;  ///< (layers, 1)  equation (1), <= 0; NaN: no attention came
};

/// Fields position_disagreement/...
std::vector<Field> describe(const PositionDisagreement& found, const HeadGrid& grid);

/// Measures (1) over one document, in heads^2 / 2 products for each query-key pair of a layer, in double.
class PositionDisagreementProbe : public Probe {
 public:
  PositionDisagreementProbe(HeadGrid grid, const Document& document, AttentionKind kind = AttentionKind::self);

  using Probe::see;
  /// @throws ShapeError if a tile of that kind has another number of heads, or a layer that was not announced
  void see(const Tile& tile) override;
  [[nodiscard]] PositionDisagreement taken() const;

 private:
  void add_products(std::size_t layer);

  HeadGrid grid_;
  AttentionKind kind_;
  std::vector<bool> seen_;        ///< (layers)  whether query rows came
  std::vector<Matrix> products_;  ///< (heads, heads) each: equation (2), lower triangle
  Matrix squares_;                ///< (heads, keys or more)  of some queries' weights, side by side
  Index squared_ = 0;             ///< columns of it
};

/// In a job: position_disagreement/...
const AnalysisKind& position_disagreement_analysis();

}  // namespace headwave
