#include "position_disagreement.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "../../core/algebra/kernels.h"
#include "../../core/errors/error.h"
#include "../../core/fields/fields.h"

namespace headwave {

namespace {

/// Columns of squared weights that are multiplied at once, where queries have fewer keys.
constexpr Index squares_at_once = 4096;

class PositionDisagreementAnalysis : public AnalysisOf<PositionDisagreement> {
 public:
  using AnalysisOf::AnalysisOf;
  [[nodiscard]] std::unique_ptr<Look> look(const Document& document, Index /*i*/) const override {
    return look_of<PositionDisagreementProbe>(site().grid, document, site().kind);
  }

 protected:
  [[nodiscard]] std::vector<Field> finish_sum(PositionDisagreement& sum, Finished& /*finished*/) override {
    return describe(sum, site().grid);
  }
};

}  // namespace

PositionDisagreementProbe::PositionDisagreementProbe(HeadGrid grid, const Document& document, AttentionKind kind)
    : grid_(std::move(grid)),
      kind_(kind),
      seen_(grid_.layers.size(), false),
      products_(grid_.layers.size(), Matrix::Zero(grid_.heads, grid_.heads)),
      squares_(grid_.heads, std::max(document.keys(kind), squares_at_once)) {}

void PositionDisagreementProbe::add_products(std::size_t layer) {
  if (squared_ == 0) return;
  kernels<double>().add_row_products({squares_.data(), grid_.heads, squared_, squares_.outerStride(), true},
                                     products_[layer].data());
  squared_ = 0;
}

void PositionDisagreementProbe::see(const Tile& tile) {
  if (tile.kind != kind_ || tile.rows() == 0) return;
  if (tile.heads() != grid_.heads)
    throw ShapeError(
        fmt::format("position disagreement: a tile of {} heads came, expected {}", tile.heads(), grid_.heads));
  const auto layer = static_cast<std::size_t>(grid_.first_row(tile.layer) / grid_.heads);
  seen_[layer] = true;
  for (Index r = 0; r < tile.rows(); ++r) {
    const KeySpan open = tile.allowed_keys(tile.first_row + r);
    if (squared_ + open.count > squares_.cols()) add_products(layer);
    for (Index head = 0; head < tile.heads(); ++head)
      squares_.row(head).segment(squared_, open.count) = tile.weights[static_cast<std::size_t>(head)]
                                                             .row(r)
                                                             .segment(open.first, open.count)
                                                             .cast<double>()
                                                             .array()
                                                             .square();
    squared_ += open.count;
  }
  add_products(layer);
}

PositionDisagreement PositionDisagreementProbe::taken() const {
  Matrix layers = Matrix::Constant(std::ssize(products_), 1, not_defined);
  for (std::size_t layer = 0; layer < products_.size(); ++layer) {
    if (!seen_[layer]) continue;
    const Matrix norms = products_[layer].cwiseSqrt();
    const double below = norms.triangularView<Eigen::StrictlyLower>().toDenseMatrix().sum();
    layers(static_cast<Index>(layer), 0) =
        -(2 * below + norms.trace()) / static_cast<double>(grid_.heads * grid_.heads);
  }
  return {1, DefinedMean(layers)};
}

std::vector<Field> describe(const PositionDisagreement& found, const HeadGrid& grid) {
  Fields fields("position_disagreement");
  fields
      .add("mean", {layer_axis(grid.layers)}, "1",
           "disagreement of positions: minus the mean over pairs of heads of |A_a * A_b|", found.layers.value())
      .undefined_if_any("no attention came, or every key was masked")
      .note("source", "Li et al. 2018")
      .note("norm", "Frobenius, over all queries and keys of a document; * is the product entry by entry");
  return fields.taken();
}

const AnalysisKind& position_disagreement_analysis() {
  static const AnalysisKind kind{.name = "position_disagreement",
                                 .asks = "How little do the heads of a layer look at the same places?",
                                 .needs = {Need::attention},
                                 .make = make_of<PositionDisagreementAnalysis>};
  return kind;
}

}  // namespace headwave
