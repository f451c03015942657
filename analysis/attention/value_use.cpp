#include "value_use.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "../../core/algebra/product.h"
#include "../../core/fields/fields.h"
#include "../../core/numbers/offset_peak.h"

namespace headwave {

ValueUse value_use(const ValueUseSum& sum, const HeadGrid& grid, AttentionKind kind) {
  const Matrix layers = sum.layers.value(), scores = sum.scores.value();
  ValueUse use;
  use.grid = grid;
  use.kind = kind;
  use.documents = sum.documents;
  use.length = sum.length.value;
  use.subspace_disagreement = layers.col(0);
  use.output_disagreement = layers.col(1);
  use.norm_weight = sum.weights.value();
  use.reach = use.norm_weight.cols() / 2;
  use.norm_first = scores.col(0);
  use.weight_first = scores.col(1);
  use.norm_special = scores.col(2);
  use.norm_offset.resize(grid.rows());
  const Index near = std::min(use.reach, std::max<Index>(0, (use.length - 1) / 2));
  for (Index row = 0; row < grid.rows(); ++row)
    use.norm_offset[row] = peak_offset(use.norm_weight.row(row).transpose(), near);
  return use;
}

namespace {

constexpr const char* li = "Li et al. 2018";
constexpr const char* kobayashi = "Kobayashi et al. 2020, each query's lengths divided by their sum";
constexpr const char* frobenius = "Frobenius, over all positions and channels of a document";
constexpr const char* no_values = "no values came: the documents were stored without them, or the weights lack them";
constexpr const char* no_lengths =
    "nothing is handed on: no values or output weights came, as of stored documents, a gate of the query stands before "
    "W_O, or all are zero";

}  // namespace

std::vector<Field> describe(const ValueUse& use) {
  const Axis layer = layer_axis(use.grid.layers), head = head_axis(use.grid.heads);
  const Axis offset = offset_axis("offset", -use.reach, use.reach);
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
      .note("reach", "as far as norm_weight, and at most half the longest document");
  fields
      .add("norm_first", {layer, head}, "1", "mean share of what reaches a query that is from the first key",
           use.norm_first)
      .undefined_if_any(lengths)
      .note("source", kobayashi);
  fields
      .add("weight_first", {layer, head}, "1", "mean attention weight on the first key, where values came",
           use.weight_first)
      .undefined_if_any(
          "no values or output weights came, as of stored documents, a gate of the query stands before W_O, or every "
          "key was masked");
  fields
      .add("norm_special", {layer, head}, "1", "mean share of what reaches a query that is from special tokens",
           use.norm_special)
      .undefined_if_any(lengths + "; or nothing is known of special tokens")
      .note("source", kobayashi);
  return fields.taken();
}

namespace {

[[noreturn]] void throw_not_finite(const char* what, Index layer) {
  throw NumericError(fmt::format(
      "value use: {} of layer {} is not finite; look for NaN or huge values in the model's weights", what, layer));
}

/// Equation (1) of heads side by side. Heads that share a key-value head add the same cosines group^2 times,
/// which H^2 = group^2 kv^2 takes off again: key-value heads will do.
double disagreement(const MatrixView32& side_by_side, Index heads, const char* what, Index layer) {
  Matrix gram = Matrix::Zero(heads, heads);
  Matrix channels(heads, side_by_side.cols() / heads);
  for (Index i = 0; i < side_by_side.rows(); ++i) {
    const float* row = side_by_side.data() + i * side_by_side.outerStride();
    channels = Eigen::Map<const Matrix32>(row, channels.rows(), channels.cols()).cast<double>();
    multiply_add(gram, channels, channels.transpose());
  }
  if (!std::isfinite(gram.trace())) throw_not_finite(what, layer);
  const Vector norms = gram.diagonal().cwiseSqrt();
  double sum = 0;
  for (Index a = 0; a < heads; ++a) {
    if (norms[a] == 0.0) continue;
    sum += 1;
    for (Index b = 0; b < a; ++b)
      if (norms[b] > 0.0) sum += 2 * std::clamp(gram(a, b) / (norms[a] * norms[b]), -1.0, 1.0);
  }
  return -sum / static_cast<double>(heads * heads);
}

/// G_h of equation (6).
Matrix gram_of_head(const Linear& output, Index head, Index width) {
  const Matrix rows = output.weight.middleCols(head * width, width).transpose().cast<double>();  // of W_O
  return product(rows, rows.transpose());
}

class ValueUseAnalysis : public AnalysisOf<ValueUseSum> {
 public:
  using AnalysisOf::AnalysisOf;
  [[nodiscard]] std::unique_ptr<Look> look(const Document& document, Index /*i*/) const override {
    return look_of<ValueProbe>(site().grid, document, site().kind, options().reach);
  }

 protected:
  [[nodiscard]] std::vector<Field> finish_sum(ValueUseSum& sum, Finished& /*finished*/) override {
    return describe(value_use(sum, site().grid, site().kind));
  }
};

}  // namespace

ValueProbe::ValueProbe(HeadGrid grid, const Document& document, AttentionKind kind, Index reach)
    : grid_(std::move(grid)),
      kind_(kind),
      reach_(reach),
      queries_(document.queries(kind)),
      keys_(document.keys(kind)),
      knows_special_(!document.key_tokens(kind).special.empty()) {
  const TokenSequence& tokens = document.key_tokens(kind);
  if (reach_ < 0) throw ShapeError(fmt::format("ValueProbe: expected a reach of at least 0, {} came", reach_));
  if (knows_special_ && static_cast<Index>(tokens.special.size()) != keys_)
    throw ShapeError(fmt::format("ValueProbe: document '{}' has {} tokens and marks {} as special or not",
                                 document.name, keys_, tokens.special.size()));
  for (Index j = 0; j < keys_; ++j)
    if (tokens.is_special(j)) special_.push_back(j);
  const Index rows = grid_.rows();
  subspace_ = output_ = Vector::Constant(static_cast<Index>(grid_.layers.size()), not_defined);
  trace_ = pairs_ = Matrix::Zero(rows, 2 * reach_ + 1);
  live_ = handing_ = weight_first_ = norm_first_ = on_special_ = Vector::Zero(rows);
  lengths_.resize(grid_.heads, keys_);
  wide_.resize(keys_);
}

void ValueProbe::see(const LayerValues& values) {
  if (values.kind != kind_) return;
  if (values.heads != grid_.heads || values.kv_heads < 1 || values.heads % values.kv_heads != 0 ||
      values.values.rows() != keys_ || values.values.cols() % values.kv_heads != 0)
    throw ShapeError(
        fmt::format("value use: values ({}, {}) of {} heads with {} key-value heads came, expected {} heads, {} rows "
                    "and a width that the key-value heads divide",
                    values.values.rows(), values.values.cols(), values.heads, values.kv_heads, grid_.heads, keys_));
  const Index layer = grid_.first_row(values.layer) / grid_.heads;
  const Index width = values.values.cols() / values.kv_heads, group = values.heads / values.kv_heads;
  subspace_[layer] = disagreement(values.values, values.kv_heads, "a value", values.layer);
  layer_ = -1;
  if (values.output == nullptr) return;
  if (values.output->d_in() != values.heads * width)
    throw ShapeError(fmt::format("value use: W_O of layer {} reads {} channels, the heads' values have {}",
                                 values.layer, values.output->d_in(), values.heads * width));
  for (Index head = 0; head < values.heads; ++head) {
    const Matrix v = values.values.middleCols(head / group * width, width).cast<double>();
    const Matrix turned = product(v, gram_of_head(*values.output, head, width));
    // Rounding may make the square of a zero length slightly negative.
    lengths_.row(head) = turned.cwiseProduct(v).rowwise().sum().cwiseMax(0.0).cwiseSqrt().transpose();
  }
  if (!are_finite(lengths_)) throw_not_finite("the length of a value", values.layer);
  layer_ = values.layer;
}

/// Equation (3) of one query, summed up for (4).
/// @param first    the first key that it may look at
/// @param open     its weights on that key and the following
/// @param lengths  n_j of the same keys
void ValueProbe::add_row(Index row, Index query, Index first, const Eigen::Ref<const Eigen::RowVectorXf>& open,
                         const Eigen::Ref<const Eigen::RowVectorXd>& lengths) {
  const Index allowed = open.size();
  auto weights = wide_.head(allowed);
  weights = open.transpose().array().cast<double>();
  const double weight = weights.sum();
  if (!std::isfinite(weight)) throw_not_finite("an attention weight", layer_);
  if (weight == 0.0) return;
  live_[row] += 1;
  if (first == 0) weight_first_[row] += weights[0];
  const double total = weights.matrix().dot(lengths.transpose());
  if (total == 0.0) return;
  const auto share = [&](Index key) { return weights[key - first] * lengths[key - first] / total; };
  handing_[row] += 1;
  if (first == 0) norm_first_[row] += share(0);
  for (const Index key : special_)
    if (key >= first && key < first + allowed) on_special_[row] += share(key);
  const Index from = std::max(first, query - reach_), end = std::min(first + allowed, query + reach_ + 1);
  for (Index key = from; key < end; ++key) {
    trace_(row, key - query + reach_) += share(key);
    pairs_(row, key - query + reach_) += 1;
  }
}

void ValueProbe::see(const Tile& tile) {
  if (tile.kind != kind_ || tile.layer != layer_) return;
  if (tile.heads() != grid_.heads || tile.queries != queries_ || tile.keys != keys_)
    throw ShapeError(fmt::format("value use: a tile of {} heads over {} x {} positions came, expected {} over {} x {}",
                                 tile.heads(), tile.queries, tile.keys, grid_.heads, queries_, keys_));
  const Index first_row = grid_.first_row(tile.layer);
  for (Index head = 0; head < tile.heads(); ++head)
    for (Index r = 0; r < tile.rows(); ++r) {
      const Index query = tile.first_row + r;
      const KeySpan open = tile.allowed_keys(query);
      add_row(first_row + head, query, open.first,
              tile.weights[static_cast<std::size_t>(head)].row(r).segment(open.first, open.count),
              lengths_.row(head).segment(open.first, open.count));
    }
}

void ValueProbe::see(const LayerHeads& heads) {
  if (heads.kind != kind_) return;
  if (heads.heads != grid_.heads || heads.outputs.rows() != queries_ || heads.outputs.cols() % grid_.heads != 0)
    throw ShapeError(
        fmt::format("value use: outputs ({}, {}) of {} heads came, expected {} heads, {} rows and a width that the "
                    "heads divide",
                    heads.outputs.rows(), heads.outputs.cols(), heads.heads, grid_.heads, queries_));
  const Index layer = grid_.first_row(heads.layer) / grid_.heads;
  output_[layer] = disagreement(heads.outputs, grid_.heads, "a head's output", heads.layer);
}

ValueUseSum ValueProbe::taken() const {
  Matrix layers(subspace_.size(), 2), scores(grid_.rows(), 3);
  layers << subspace_, output_;
  // 0 / 0 is NaN: undefined.
  scores << norm_first_.cwiseQuotient(handing_), weight_first_.cwiseQuotient(live_),
      on_special_.cwiseQuotient(handing_);
  if (!knows_special_) scores.col(2).setConstant(not_defined);
  const Matrix weights = trace_.cwiseQuotient(pairs_);
  return {1, {std::max(queries_, keys_)}, DefinedMean(layers), DefinedMean(weights), DefinedMean(scores)};
}

const AnalysisKind& value_use_analysis() {
  static const AnalysisKind kind{
      .name = "value_use",
      .asks = "What does attention hand on, weights times values, and how alike are the heads of a layer?",
      .needs = {Need::attention, Need::values},
      .make = make_of<ValueUseAnalysis>};
  return kind;
}

}  // namespace headwave
