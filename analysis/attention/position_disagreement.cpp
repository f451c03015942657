// How little the heads of a layer look at the same places.

#include <algorithm>
#include <utility>

#include "../../core/algebra/kernels.h"
#include "../../core/fields/fields.h"
#include "../pass/analysis_kind.h"
#include "../pass/row_look.h"

namespace headwave {

namespace {

/// Measures one document.
///
///     D_pos = -1/H^2 sum_{a,b} |A_a * A_b|                                                          (1)
///     |A_a * A_b|^2 = sum_ij A_a[i, j]^2 A_b[i, j]^2                                                (2)
///
/// A is a head's attention, * the product entry by entry, |.| the Frobenius norm over the document's whole (queries,
/// keys) matrix, without normalisation: it grows with the document, as sqrt(T) where every query looks at one key, and
/// compares between equal lengths only. 0: no two heads share a place. It takes heads^2 / 2 products for each query-key
/// pair of a layer, in double.
///
/// Source: Li et al. 2018, where the norm is not named.
class PositionDisagreementLook : public RowLook {
 public:
  PositionDisagreementLook(const Site& site, const Document& document)
      : RowLook(site),
        products_(site.grid.layers.size()),
        squares_(site.grid.heads, std::max(document.keys(site.kind), Index{4096})) {}

  [[nodiscard]] DefinedMean taken() const {
    Matrix layers = Matrix::Constant(std::ssize(products_), 1, not_defined);
    for (std::size_t layer = 0; layer < products_.size(); ++layer) {
      if (products_[layer].size() == 0) continue;
      const Matrix norms = products_[layer].cwiseSqrt();
      const double below = norms.triangularView<Eigen::StrictlyLower>().toDenseMatrix().sum();
      layers(static_cast<Index>(layer), 0) =
          -(2 * below + norms.trace()) / static_cast<double>(norms.rows() * norms.rows());
    }
    return DefinedMean(layers);
  }

 private:
  void row(const HeadRow& one) override {
    Matrix& products = products_[static_cast<std::size_t>(one.row / squares_.rows())];
    if (products.size() == 0) products = Matrix::Zero(squares_.rows(), squares_.rows());
    squares_.row(one.head).segment(squared_, one.open.count) = one.weights.cast<double>().array().square();
    if (one.head + 1 < squares_.rows()) return;
    // Queries stand side by side until there is no room for another, or the tile ends.
    squared_ += one.open.count;
    const bool last = one.query + 1 == one.tile.first_row + one.tile.rows();
    if (!last && squared_ + one.tile.allowed_keys(one.query + 1).count <= squares_.cols()) return;
    kernels<double>().add_row_products({squares_.data(), squares_.rows(), squared_, squares_.outerStride(), true},
                                       products.data());
    squared_ = 0;
  }

  std::vector<Matrix> products_;  // (heads, heads) each: equation (2), lower triangle; empty: no attention came
  Matrix squares_;                // (heads, keys or more)  of some queries' weights, side by side
  Index squared_ = 0;             // columns of it
};

class PositionDisagreementAnalysis : public AnalysisOf<DefinedMean> {
 public:
  using AnalysisOf::AnalysisOf;
  [[nodiscard]] std::unique_ptr<Look> look(const Document& document, Index /*i*/) const override {
    return look_of<PositionDisagreementLook>(site(), document);
  }

 protected:
  [[nodiscard]] std::vector<Field> finish_sum(DefinedMean& sum, Finished& /*finished*/) override {
    Fields fields("position_disagreement");
    fields
        .add("mean", {layer_axis(site().grid.layers)}, "1",
             "disagreement of positions: minus the mean over pairs of heads of |A_a * A_b|", sum.value())
        .undefined_if_any("no attention came, or every key was masked")
        .note("source", "Li et al. 2018")
        .note("norm", "Frobenius, over all queries and keys of a document; * is the product entry by entry");
    return fields.taken();
  }
};

}  // namespace

const AnalysisKind& position_disagreement_analysis() {
  static const AnalysisKind kind{.name = "position_disagreement",
                                 .asks = "How little do the heads of a layer look at the same places?",
                                 .needs = {Need::attention},
                                 .make = make_of<PositionDisagreementAnalysis>};
  return kind;
}

}  // namespace headwave
