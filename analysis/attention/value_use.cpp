#include "value_use.h"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "../../core/fields/fields.h"
#include "../../core/numbers/offset_peak.h"

namespace headwave {

namespace {

Matrix beside(const std::vector<const Vector*>& columns) {
  Matrix matrix(columns.front()->size(), static_cast<Index>(columns.size()));
  for (Index c = 0; c < matrix.cols(); ++c) matrix.col(c) = *columns[static_cast<std::size_t>(c)];
  return matrix;
}

}  // namespace

ValueUseSum::ValueUseSum(HeadGrid grid, AttentionKind kind, Index reach) {
  if (reach < 0) throw ShapeError(fmt::format("ValueUseSum: expected a reach of at least 0, {} came", reach));
  layers_ = DefinedMean(static_cast<Index>(grid.layers.size()), 2);
  weights_ = DefinedMean(grid.rows(), 2 * reach + 1);
  scores_ = DefinedMean(grid.rows(), 3);
  first_.grid = std::move(grid);
  first_.kind = kind;
  first_.reach = reach;
}

void ValueUseSum::add(const DocumentValueUse& document) {
  const Index layers = layers_.rows(), rows = weights_.rows(), offsets = weights_.cols();
  for (const Vector* of_layers : {&document.subspace_disagreement, &document.output_disagreement})
    if (of_layers->size() != layers)
      throw ShapeError(
          fmt::format("ValueUseSum: a document of {} layers came, expected {}", of_layers->size(), layers));
  for (const Vector* of_heads : {&document.norm_first, &document.weight_first, &document.norm_special})
    if (of_heads->size() != rows)
      throw ShapeError(fmt::format("ValueUseSum: a document of {} heads came, expected {}", of_heads->size(), rows));
  if (document.norm_weight.rows() != rows || document.norm_weight.cols() != offsets)
    throw ShapeError(fmt::format("ValueUseSum: a document of {} heads and {} offsets came, expected {} and {}",
                                 document.norm_weight.rows(), document.norm_weight.cols(), rows, offsets));
  layers_.add(beside({&document.subspace_disagreement, &document.output_disagreement}));
  weights_.add(document.norm_weight);
  scores_.add(beside({&document.norm_first, &document.weight_first, &document.norm_special}));
  first_.length = std::max(first_.length, document.length);
  ++first_.documents;
}

void ValueUseSum::join(const ValueUseSum& next) {
  layers_.join(next.layers_);
  weights_.join(next.weights_);
  scores_.join(next.scores_);
  first_.length = std::max(first_.length, next.first_.length);
  first_.documents += next.first_.documents;
}

ValueUse ValueUseSum::use() const {
  ValueUse use = first_;
  const Matrix layers = layers_.value(), scores = scores_.value();
  use.subspace_disagreement = layers.col(0);
  use.output_disagreement = layers.col(1);
  use.norm_weight = weights_.value();
  use.norm_first = scores.col(0);
  use.weight_first = scores.col(1);
  use.norm_special = scores.col(2);
  use.norm_offset.resize(use.grid.rows());
  const Index near = std::min(use.reach, std::max<Index>(0, (use.length - 1) / 2));
  for (Index row = 0; row < use.grid.rows(); ++row)
    use.norm_offset[row] = peak_offset(use.norm_weight.row(row).transpose(), near);
  return use;
}

namespace {

constexpr const char* li = "Li et al. 2018";
constexpr const char* kobayashi = "Kobayashi et al. 2020, each query's lengths divided by their sum";
constexpr const char* frobenius = "Frobenius, over all positions and channels of a document";
constexpr const char* no_values = "no values came: the documents were stored without them, or the weights lack them";
constexpr const char* no_lengths =
    "nothing is handed on: no values or output weights came, as of stored documents, or all are zero";

}  // namespace

std::vector<Field> describe(const ValueUse& use) {
  const Axis layer = layer_axis(use.grid.layers), head = head_axis(use.grid.heads);
  const Axis offset = offset_axis("norm_lag", -use.reach, use.reach);
  const std::string lengths = no_lengths;
  Fields fields("value_use");
  fields
      .add("subspace_disagreement", {layer}, "1",
           "disagreement of subspaces: minus the mean over pairs of heads of cos(V_a, V_b)", use.subspace_disagreement)
      .undefined_if_any(no_values)
      .note("source", li)
      .note("norm", frobenius);
  fields
      .add("output_disagreement", {layer}, "1",
           "disagreement of outputs: minus the mean over pairs of heads of cos(O_a, O_b), O = A V before W_O",
           use.output_disagreement)
      .undefined_if_any(no_values)
      .note("source", li)
      .note("norm", frobenius);
  fields
      .add("norm_weight", {layer, head, offset}, "1", "mean share of what reaches a query that is from an offset",
           use.norm_weight)
      .undefined_if_any(lengths + "; or no pair of tokens is that far apart and allowed by the mask")
      .note("source", kobayashi);
  fields.add("norm_offset", {layer, head}, "token", "the offset of the largest norm_weight", use.norm_offset)
      .undefined_if_any(lengths + "; or it lies at the end of the search")
      .note("source", kobayashi)
      .note("ties", "the lesser |t|, then the left")
      .note("reach", "|t| <= norm_lag's, and at most half the longest document");
  fields
      .add("norm_first", {layer, head}, "1", "mean share of what reaches a query that is from the first key",
           use.norm_first)
      .undefined_if_any(lengths)
      .note("source", kobayashi);
  fields
      .add("weight_first", {layer, head}, "1", "mean attention weight on the first key, where values came",
           use.weight_first)
      .undefined_if_any("no values or output weights came, as of stored documents, or every key was masked");
  fields
      .add("norm_special", {layer, head}, "1", "mean share of what reaches a query that is from special tokens",
           use.norm_special)
      .undefined_if_any(lengths + "; or nothing is known of special tokens")
      .note("source", kobayashi);
  return fields.taken();
}

}  // namespace headwave
