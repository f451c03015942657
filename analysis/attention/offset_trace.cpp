#include "offset_trace.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <ranges>
#include <utility>

#include <fmt/format.h>

#include "../../core/algebra/kernels.h"
#include "../../core/fields/fields.h"

namespace headwave {

std::vector<OffsetBin> offset_bins(Index length, Index reach, bool causal) {
  std::vector<OffsetBin> right;
  for (Index t = 1; t <= std::min(reach, length - 1); ++t) right.push_back({t, t});
  for (Index k = 1, first = reach + 1; first < length; ++k) {
    const auto next =
        static_cast<Index>(std::ceil(static_cast<double>(reach + 1) * std::exp2(static_cast<double>(k) / 4)));
    if (next == first) continue;  // the reach is short: both edges round to one token
    right.push_back({first, std::min(next, length) - 1});
    first = next;
  }
  std::vector<OffsetBin> bins;
  for (const OffsetBin& bin : right | std::views::reverse) bins.push_back({-bin.last, -bin.first});
  bins.push_back({0, 0});
  if (!causal) bins.insert(bins.end(), right.begin(), right.end());
  return bins;
}

OffsetTraces offset_traces(OffsetTraceSum sum, const HeadGrid& grid) {
  OffsetTraces traces;
  traces.grid = grid;
  traces.documents = sum.documents;
  traces.length = (sum.count[all_pairs].size() + 1) / 2;
  traces.reach = sum.by_document.front().cols() / 2;
  traces.lengths = std::move(sum.lengths);
  const Index rows = grid.rows();
  traces.by_document.resize(traces.documents * rows, 2 * traces.reach + 1);
  for (std::size_t d = 0; d < sum.by_document.size(); ++d)
    traces.by_document.middleRows(static_cast<Index>(d) * rows, rows) = sum.by_document[d];
  const auto documents = static_cast<double>(traces.documents);
  traces.correlation = sum.correlation.correlation();
  for (std::size_t kind = 0; kind < pairs_kinds; ++kind) {
    if (!are_finite(sum.trace[kind]))
      throw NumericError(
          "offset traces: an attention weight is not finite; look for NaN or huge values in the model's weights");
    traces.trace[kind] = sum.trace[kind] / documents;
    traces.count[kind] = sum.count[kind] / documents;
    // NaN (0 / 0): no document has a pair at that offset.
    traces.weight[kind] = sum.weight[kind].array().rowwise() / sum.documents_with_pairs[kind].transpose().array();
    // From moments of the sum to those of the mean; NaN (0 / 0): no null.
    const auto documents_here = sum.documents_with_null[kind].transpose().array();
    NullMoments::Spread spread = sum.null[kind].of_sum(traces.correlation);
    traces.null_weight[kind] = sum.null_weight[kind].array().rowwise() / documents_here;
    traces.null_deviation[kind] = spread.deviation.array().rowwise() / documents_here;
    traces.null_skewness[kind] = std::move(spread.skewness);
    for (Index t = 0; t < documents_here.size(); ++t)
      if (documents_here[t] == 0) traces.null_skewness[kind].col(t).setConstant(not_defined);
  }
  return traces;
}

ComparableTraces comparable_traces(const OffsetTraces& traces, Index window) {
  ComparableTraces result{traces.by_document.middleCols(traces.reach - window, 2 * window + 1),
                          "none: weights summed along a diagonal"};
  result.values = result.values.unaryExpr([](double value) { return std::isnan(value) ? 0.0 : value; });
  const std::vector<Index>& lengths = traces.lengths;
  if (std::adjacent_find(lengths.begin(), lengths.end(), std::not_equal_to<>()) == lengths.end()) return result;
  result.normalisation =
      "by length: sums divided by the document's length (in cross-attention the longer side), since lengths differ";
  const Index rows = traces.grid.rows();
  for (std::size_t d = 0; d < lengths.size(); ++d)
    result.values.middleRows(static_cast<Index>(d) * rows, rows) /= static_cast<double>(lengths[d]);
  return result;
}

std::vector<Field> describe(const OffsetTraces& traces) {
  const Axis pairs = pairs_axis(), layer = layer_axis(traces.grid.layers), head = head_axis(traces.grid.heads);
  const Axis document = document_axis(traces.documents);
  const Axis offset = offset_axis("offset", -(traces.length - 1), traces.length - 1);
  const Axis near = offset_axis("near_offset", -traces.reach, traces.reach);
  const char* const no_null = "no document has enough pairs of that kind at that offset";
  Fields fields("offset_trace");
  fields.add("mean_weight", {pairs, layer, head, offset}, "1",
             "mean attention weight at an offset: trace / count, averaged over documents", traces.weight,
             "no document has a pair of that kind at that offset");
  fields.add("trace", {pairs, layer, head, offset}, "1",
             "attention weight summed along a diagonal, averaged over documents", traces.trace);
  fields.add("count", {pairs, offset}, "1", "query-key pairs at an offset, averaged over documents", traces.count);
  fields.add("null_weight", {pairs, layer, head, near}, "1",
             "mean attention weight expected at an offset if the queries are shuffled", traces.null_weight, no_null);
  fields.add("null_deviation", {pairs, layer, head, near}, "1", "standard deviation of null_weight",
             traces.null_deviation, no_null);
  fields.add("null_skewness", {pairs, layer, head, near}, "1", "skewness of null_weight", traces.null_skewness,
             no_null);
  fields.add("document_correlation", {layer, head}, "1",
             "correlation between documents of the weights of pairs of positions, used in null_deviation",
             traces.correlation, "one document, or no two that share a pair of positions; counts as 1");
  fields.add("by_document", {document, layer, head, near}, "1",
             "attention weight summed along a diagonal, all pairs of one document", traces.by_document,
             "the document has no pair at that offset");
  fields.add("length", {document}, "token", "length of a document; in cross-attention that of the longer side",
             traces.lengths);
  return fields.taken();
}

OffsetTraceProbe::Side OffsetTraceProbe::side_of(const TokenSequence& tokens, Index length) {
  Side side;
  side.length = length;
  for (std::size_t pairs = 0; pairs < pairs_kinds; ++pairs)
    for (Index i = 0; i < length; ++i) {
      const bool keep = counts(static_cast<Pairs>(pairs), tokens, i);
      side.kept[pairs].push_back(keep);
      if (!keep) side.dropped[pairs].push_back(i);
    }
  return side;
}

OffsetTraceProbe::OffsetTraceProbe(HeadGrid grid, const Document& document, Index reach, AttentionKind kind,
                                   Index longest, const PlacePairs* pairs)
    : grid_(std::move(grid)),
      reach_(reach),
      kind_(kind),
      queries_(side_of(document.query_tokens(kind), document.queries(kind))),
      keys_(side_of(document.key_tokens(kind), document.keys(kind))),
      length_(std::max(queries_.length, keys_.length)),
      longest_(std::max(longest, length_)) {
  windows_.resize(grid_.layers.size());
  const Matrix none = Matrix::Zero(grid_.rows(), length_);
  for (Sums& sums : sums_) sums = {Matrix::Zero(grid_.rows(), diagonals(length_)), {none, none, none}};
  if (pairs != nullptr) compared_.emplace(*pairs, grid_, document, kind);
}

Index OffsetTraceProbe::first_key(Index query, Index window) {
  return window > 0 ? std::max<Index>(0, query - window + 1) : 0;
}

/// Weight of each key that a causal query may look at, under uniform attention.
double OffsetTraceProbe::uniform(Index row, Index query, Index window) const {
  return (given_.size() > 0 ? given_(row, query) : 1.0) / static_cast<double>(query + 1 - first_key(query, window));
}

/// The widest window of any layer; 0: a layer has no limit.
Index OffsetTraceProbe::widest() const {
  return std::ranges::count(windows_, 0) > 0 ? 0 : std::ranges::max(windows_);
}

/// Number of pairs (i, i+t) of positions that count, for every t, without pairs that every layer masks.
Vector OffsetTraceProbe::pair_counts(std::size_t pairs) const {
  Vector count = Vector::Zero(diagonals(length_));
  for (Index i = 0; i < queries_.length; ++i) {
    if (!queries_.kept[pairs][static_cast<std::size_t>(i)]) continue;
    const KeySpan open = allowed_keys(i, keys_.length, causal(), widest());
    for (Index j = open.first; j < open.end(); ++j)
      if (keys_.kept[pairs][static_cast<std::size_t>(j)]) count[j - i + length_ - 1] += 1.0;
  }
  return count;
}

/// Adds rows of a head to the sums over all pairs, or over the pairs that a kind of Pairs leaves out.
void OffsetTraceProbe::add_rows(Sums& sums, Index row, Index query, const MatrixView32& weights) {
  const Index last = query + weights.rows() - 1;
  const Kernels<float>& kernel = kernels<float>();
  const Operand<float> all{weights.data(), weights.rows(), causal() ? last + 1 : weights.cols(), weights.outerStride(),
                           true};
  kernel.add_diagonals(all, sums.trace.row(row).data() + (length_ - 1 - last));
  if (causal()) return add_causal_powers(sums, row, query, weights);
  std::array<double*, 3> power;
  for (std::size_t p = 0; p < power.size(); ++p) power[p] = sums.power[p].row(row).data();
  kernel.add_powers(all, power[0], power[1], power[2]);
  if (kind_ == AttentionKind::cross) return;
  for (Index i = 0; i < weights.rows(); ++i) {
    const double own = weights(i, query + i);
    sums.power[0](row, query + i) -= own;
    sums.power[1](row, query + i) -= own * own;
    sums.power[2](row, query + i) -= own * own * own;
  }
}

void OffsetTraceProbe::add_causal_powers(Sums& sums, Index row, Index query, const MatrixView32& weights) const {
  const Index window = window_of(row);
  for (Index i = 0; i < weights.rows(); ++i) {
    const Index own = query + i, first = first_key(own, window);
    const Eigen::ArrayXd others =
        weights.row(i).segment(first, own - first).transpose().cast<double>().array() - uniform(row, own, window);
    sums.power[0](row, own) += others.sum();
    sums.power[1](row, own) += others.square().sum();
    sums.power[2](row, own) += others.cube().sum();
  }
}

void OffsetTraceProbe::add_pair(Sums& sums, Index row, Index query, Index key, double weight) {
  sums.trace(row, key - query + length_ - 1) += weight;
  if (kind_ != AttentionKind::cross && key == query) return;
  const Index window = window_of(row);
  if (causal() && (key > query || key < first_key(query, window))) return;
  const double power = causal() ? weight - uniform(row, query, window) : weight;
  const Index at = causal() ? query : key;
  sums.power[0](row, at) += power;
  sums.power[1](row, at) += power * power;
  sums.power[2](row, at) += power * power * power;
}

void OffsetTraceProbe::see(const Tile& tile) {
  if (tile.kind != kind_) return;
  if (tile.heads() != grid_.heads || tile.queries != queries_.length || tile.keys != keys_.length)
    throw ShapeError(
        fmt::format("offset traces: found a tile of {} heads over {} x {} positions, expected {} heads over {} x {}",
                    tile.heads(), tile.queries, tile.keys, grid_.heads, queries_.length, keys_.length));
  windows_[static_cast<std::size_t>(grid_.place_of(tile.layer))] = tile.window;
  if (compared_) compared_->see(tile, grid_.first_row(tile.layer));
  for (Index head = 0; head < tile.heads(); ++head) {
    const Index row = grid_.first_row(tile.layer) + head;
    const MatrixView32& weights = tile.weights[static_cast<std::size_t>(head)];
    if (tile.sinks) {
      if (given_.size() == 0) given_ = Matrix::Ones(grid_.rows(), length_);
      given_.row(row).segment(tile.first_row, tile.rows()) = weights.cast<double>().rowwise().sum().transpose();
    }
    add_rows(sums_[all_pairs], row, tile.first_row, weights);
    // The other kinds leave out a few positions: these are summed, and subtracted at the end.
    for (std::size_t pairs = all_pairs + 1; pairs < pairs_kinds; ++pairs)
      for (Index r = 0; r < tile.rows(); ++r) {
        const Index query = tile.first_row + r;
        if (!queries_.kept[pairs][static_cast<std::size_t>(query)])
          add_rows(sums_[pairs], row, query, weights.middleRows(r, 1));
        else
          for (const Index key : keys_.dropped[pairs]) add_pair(sums_[pairs], row, query, key, weights(r, key));
      }
  }
}

/// Sums values of keys, under a causal mask of queries, over the pairs (i, i+t) of positions that count, for
/// |t| <= reach: a difference of prefix sums, minus the few whose partner does not count.
Vector OffsetTraceProbe::sum_along(Eigen::Ref<const Vector> values, std::size_t pairs) const {
  const Side& side = causal() ? queries_ : keys_;
  const Side& other = causal() ? keys_ : queries_;
  Vector prefix = Vector::Zero(side.length + 1);
  for (Index j = 0; j < side.length; ++j)
    prefix[j + 1] = prefix[j] + (side.kept[pairs][static_cast<std::size_t>(j)] ? values[j] : 0.0);
  Vector sums = Vector::Zero(2 * reach_ + 1);
  const Index near = std::min(reach_, length_ - 1);
  for (Index t = -near; t <= near; ++t) {
    // Position j of this side is partner + t, or partner - t if this side has the queries.
    const Index apart = causal() ? -t : t;
    const Index first = std::min(side.length, std::max<Index>(0, apart));
    const Index end = std::max(first, std::min(side.length, other.length + apart));
    double& sum = sums[t + reach_];
    sum = prefix[end] - prefix[first];
    for (const Index partner : other.dropped[pairs]) {
      const Index j = partner + apart;
      if (j >= 0 && j < side.length && side.kept[pairs][static_cast<std::size_t>(j)]) sum -= values[j];
    }
  }
  return sums;
}

/// Equation (2), divided by the number of pairs.
void OffsetTraceProbe::set_null(std::size_t pairs, const Sums& sums, const Vector& count,
                                OffsetTraceSum& result) const {
  Matrix weight = Matrix::Constant(grid_.rows(), 2 * reach_ + 1, not_defined), variance = weight, third_moment = weight;
  const auto n = static_cast<double>(queries_.length - static_cast<Index>(queries_.dropped[pairs].size()));
  Vector number = Vector::Constant(2 * reach_ + 1, not_defined);
  const Index near = std::min(reach_, length_ - 1);
  for (Index t = -near; t <= near; ++t)
    if (const double here = count[t + length_ - 1]; here > 0) number[t + reach_] = here;
  // A key gets weights from all other positions that count; a causal query gives weights to those before it.
  const double givers = kind_ == AttentionKind::cross ? n : n - 1;
  Vector others = Vector::Constant(length_, givers);
  Vector baseline = Vector::Zero(length_);
  for (Index row = 0; n >= 3 && row < grid_.rows(); ++row) {
    const Index window = window_of(row);
    // No null: in a window keys get weights only from nearby queries, and offsets are not exchangeable.
    if (!causal() && window > 0) continue;
    for (Index i = 0; causal() && i < length_; ++i) {
      others[i] = static_cast<double>(std::max<Index>(1, i - first_key(i, window)));
      baseline[i] = uniform(row, i, window);
    }
    Vector mean = sums.power[0].row(row).transpose().cwiseQuotient(others);
    Vector second = sums.power[1].row(row).transpose().cwiseQuotient(others);
    Vector third = sums.power[2].row(row).transpose().cwiseQuotient(others);
    if (causal()) {
      mean = baseline;
    } else {
      third = third.array() - 3 * mean.array() * second.array() + 2 * mean.array().cube();
      second = (second - mean.cwiseAbs2()).cwiseMax(0.0) * (givers / (givers - 1));
    }
    weight.row(row) = sum_along(mean, pairs).cwiseQuotient(number).transpose();
    variance.row(row) = sum_along(second, pairs).cwiseQuotient(number.cwiseAbs2()).transpose();
    third_moment.row(row) = sum_along(third, pairs).cwiseQuotient(number.array().cube().matrix()).transpose();
  }
  // An offset without a null adds nothing.
  Vector& with_null = result.documents_with_null[pairs] = Vector::Ones(number.size());
  for (Index t = 0; t < number.size(); ++t) {
    if (grid_.rows() > 0 && !std::isnan(weight(0, t))) continue;
    with_null[t] = 0;
    for (Matrix* moment : {&weight, &variance, &third_moment}) moment->col(t).setZero();
  }
  result.null_weight[pairs] = std::move(weight);
  result.null[pairs] = NullMoments(variance, third_moment);
}

/// Traces at the offsets of the longest document.
void OffsetTraceProbe::set_traces(std::size_t pairs, const Matrix& trace, const Vector& count,
                                  OffsetTraceSum& result) const {
  const Index first = longest_ - length_, width = diagonals(length_);
  result.trace[pairs] = result.weight[pairs] = Matrix::Zero(grid_.rows(), diagonals(longest_));
  result.count[pairs] = result.documents_with_pairs[pairs] = Vector::Zero(diagonals(longest_));
  result.trace[pairs].middleCols(first, width) = trace;
  result.count[pairs].segment(first, width) = count;
  for (Index t = 0; t < width; ++t) {
    if (count[t] == 0.0) continue;
    result.weight[pairs].col(first + t) = trace.col(t) / count[t];
    result.documents_with_pairs[pairs][first + t] = 1;
  }
  if (pairs != all_pairs) return;
  Matrix& own = result.by_document.emplace_back(Matrix::Constant(grid_.rows(), 2 * reach_ + 1, not_defined));
  const Index near = std::min(reach_, length_ - 1);
  for (Index t = -near; t <= near; ++t)
    if (count[t + length_ - 1] > 0) own.col(reach_ + t) = trace.col(t + length_ - 1);
}

OffsetTraceSum OffsetTraceProbe::taken() {
  OffsetTraceSum result;
  result.documents = 1;
  result.lengths = {length_};
  result.correlation =
      DocumentCorrelation(grid_.heads, compared_ ? compared_->deviations() : Matrix32(grid_.rows(), 0));
  const Sums& all = sums_[all_pairs];
  for (std::size_t pairs = 0; pairs < pairs_kinds; ++pairs) {
    const Vector count = pair_counts(pairs);
    Sums& sums = sums_[pairs];
    if (pairs != all_pairs) {
      sums.trace = all.trace - sums.trace;
      for (std::size_t power = 0; power < sums.power.size(); ++power)
        sums.power[power] = all.power[power] - sums.power[power];
      // Without pairs the difference is only rounding.
      for (Index t = 0; t < sums.trace.cols(); ++t)
        if (count[t] == 0.0) sums.trace.col(t).setZero();
      sums.trace = sums.trace.cwiseMax(0.0);
    }
    set_traces(pairs, sums.trace, count, result);
    set_null(pairs, sums, count, result);
  }
  return result;
}

}  // namespace headwave
