#include "offset_trace.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "../../core/algebra/kernels.h"
#include "../../core/bytes/append.h"
#include "../../core/fields/fields.h"

namespace headwave {

OffsetTraceSum::OffsetTraceSum(HeadGrid grid, Index length, Index reach, Index pairs) : correlation_(grid, pairs) {
  const Index rows = grid.rows();
  sum_.grid = std::move(grid);
  sum_.length = length;
  sum_.reach = reach;
  for (std::size_t kind = 0; kind < pairs_kinds; ++kind) {
    sum_.trace[kind] = sum_.weight[kind] = Matrix::Zero(rows, diagonals(length));
    sum_.count[kind] = documents_with_pairs_[kind] = Vector::Zero(diagonals(length));
    sum_.null_weight[kind] = Matrix::Zero(rows, 2 * reach + 1);
    null_[kind] = NullMoments(rows, 2 * reach + 1);
    documents_with_null_[kind] = Vector::Zero(2 * reach + 1);
  }
}

void OffsetTraceSum::add(const DocumentTraces& document) {
  const Index rows = sum_.grid.rows();
  const Index width = diagonals(document.length);
  const Index first = sum_.length - document.length;
  const Index near = std::min(sum_.reach, document.length - 1);
  Matrix& own = by_document_.emplace_back(Matrix::Constant(rows, 2 * sum_.reach + 1, not_defined));
  for (Index t = -near; t <= near; ++t)
    if (document.count[all_pairs][t + document.length - 1] > 0)
      own.col(sum_.reach + t) = document.trace[all_pairs].col(t + document.length - 1);
  sum_.lengths.push_back(document.length);
  for (std::size_t kind = 0; kind < pairs_kinds; ++kind) {
    sum_.trace[kind].middleCols(first, width) += document.trace[kind];
    sum_.count[kind].segment(first, width) += document.count[kind];
    for (Index t = 0; t < width; ++t) {
      if (document.count[kind][t] == 0.0) continue;
      sum_.weight[kind].col(first + t) += document.trace[kind].col(t) / document.count[kind][t];
      documents_with_pairs_[kind][first + t] += 1.0;
    }
    for (Index t = 0; t < document.null_weight[kind].cols() && rows > 0; ++t) {
      if (std::isnan(document.null_weight[kind](0, t))) continue;
      sum_.null_weight[kind].col(t) += document.null_weight[kind].col(t);
      null_[kind].add(t, document.null_variance[kind].col(t), document.null_third[kind].col(t));
      documents_with_null_[kind][t] += 1.0;
    }
  }
  correlation_.add(document.deviations);
  ++sum_.documents;
}

void OffsetTraceSum::join(OffsetTraceSum&& next) {
  for (std::size_t kind = 0; kind < pairs_kinds; ++kind) {
    sum_.trace[kind] += next.sum_.trace[kind];
    sum_.weight[kind] += next.sum_.weight[kind];
    sum_.count[kind] += next.sum_.count[kind];
    sum_.null_weight[kind] += next.sum_.null_weight[kind];
    null_[kind] += next.null_[kind];
    documents_with_pairs_[kind] += next.documents_with_pairs_[kind];
    documents_with_null_[kind] += next.documents_with_null_[kind];
  }
  correlation_.join(next.correlation_);
  append(by_document_, std::move(next.by_document_));
  append(sum_.lengths, std::move(next.sum_.lengths));
  sum_.documents += next.sum_.documents;
}

OffsetTraces OffsetTraceSum::traces() const {
  OffsetTraces traces = sum_;
  const Index rows = traces.grid.rows();
  traces.by_document.resize(traces.documents * rows, 2 * traces.reach + 1);
  for (std::size_t d = 0; d < by_document_.size(); ++d)
    traces.by_document.middleRows(static_cast<Index>(d) * rows, rows) = by_document_[d];
  const auto documents = static_cast<double>(traces.documents);
  traces.correlation = correlation_.correlation();
  for (std::size_t kind = 0; kind < pairs_kinds; ++kind) {
    if (!are_finite(traces.trace[kind]))
      throw NumericError(
          "offset traces: an attention weight is not finite; look for NaN or huge values in the model's weights");
    traces.trace[kind] /= documents;
    traces.count[kind] /= documents;
    // 0 / 0 is NaN: no document has a pair at that offset.
    traces.weight[kind].array().rowwise() /= documents_with_pairs_[kind].transpose().array();
    // Moments of documents become those of their mean; 0 / 0 is NaN where there is no null.
    const auto documents_here = documents_with_null_[kind].transpose().array();
    NullMoments::Spread spread = null_[kind].of_sum(traces.correlation);
    traces.null_weight[kind].array().rowwise() /= documents_here;
    traces.null_skewness[kind] = std::move(spread.skewness);
    traces.null_deviation[kind] = std::move(spread.deviation);
    traces.null_deviation[kind].array().rowwise() /= documents_here;
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
  result.normalisation = "by length: sums divided by the document's number of queries, since documents differ in it";
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
  fields
      .add("mean_weight", {pairs, layer, head, offset}, "1",
           "mean attention weight at an offset: trace / count, averaged over documents", traces.weight)
      .undefined("no document has a pair of that kind at that offset");
  fields.add("trace", {pairs, layer, head, offset}, "1",
             "attention weight summed along a diagonal, averaged over documents", traces.trace);
  fields.add("count", {pairs, offset}, "1", "query-key pairs at an offset, averaged over documents", traces.count);
  fields
      .add("null_weight", {pairs, layer, head, near}, "1",
           "mean attention weight expected at an offset if the queries are shuffled", traces.null_weight)
      .undefined(no_null);
  fields
      .add("null_deviation", {pairs, layer, head, near}, "1", "standard deviation of null_weight",
           traces.null_deviation)
      .undefined(no_null);
  fields.add("null_skewness", {pairs, layer, head, near}, "1", "skewness of null_weight", traces.null_skewness)
      .undefined(no_null);
  fields
      .add("document_correlation", {layer, head}, "1",
           "correlation between documents of the weights that pairs of places get, which null_deviation rests on",
           traces.correlation)
      .undefined("one document, or none that share a pair of places; counts as 1");
  fields
      .add("by_document", {document, layer, head, near}, "1",
           "attention weight summed along a diagonal, all pairs of one document", traces.by_document)
      .undefined("the document has no pair at that offset");
  fields.add("length", {document}, "token", "length of a document", traces.lengths);
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
                                   const PlacePairs* pairs)
    : grid_(std::move(grid)),
      reach_(reach),
      kind_(kind),
      queries_(side_of(document.query_tokens(kind), document.queries(kind))),
      keys_(side_of(document.key_tokens(kind), document.keys(kind))),
      length_(std::max(queries_.length, keys_.length)) {
  windows_.resize(grid_.layers.size());
  const Matrix none = Matrix::Zero(grid_.rows(), length_);
  for (Sums& sums : sums_) sums = {Matrix::Zero(grid_.rows(), diagonals(length_)), {none, none, none}};
  if (pairs != nullptr) compared_.emplace(*pairs, grid_, document, kind);
}

Index OffsetTraceProbe::first_key(Index query, Index window) {
  return window > 0 ? std::max<Index>(0, query - window + 1) : 0;
}

/// Weight of each key a causal query may look at, if it cares for none.
double OffsetTraceProbe::uniform(Index query, Index window) const {
  return 1.0 / static_cast<double>(query + 1 - first_key(query, window));
}

/// The widest window of a layer; 0: one has no limit.
Index OffsetTraceProbe::widest() const {
  return std::ranges::count(windows_, 0) > 0 ? 0 : std::ranges::max(windows_);
}

/// Number of pairs (i, i+t) both of which count, for every t; none that the masks of all layers forbid.
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

/// Of some query rows of a head: what `all` holds, or what a kind of Pairs leaves out.
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
        weights.row(i).segment(first, own - first).transpose().cast<double>().array() - uniform(own, window);
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
  const double power = causal() ? weight - uniform(query, window) : weight;
  const Index at = causal() ? query : key;
  sums.power[0](row, at) += power;
  sums.power[1](row, at) += power * power;
  sums.power[2](row, at) += power * power * power;
}

void OffsetTraceProbe::see(const Tile& tile) {
  if (tile.kind != kind_) return;
  if (tile.heads() != grid_.heads || tile.queries != queries_.length || tile.keys != keys_.length)
    throw ShapeError(
        fmt::format("offset traces: a tile of {} heads over {} x {} positions came, expected {} over {} x {}",
                    tile.heads(), tile.queries, tile.keys, grid_.heads, queries_.length, keys_.length));
  windows_[static_cast<std::size_t>(grid_.place_of(tile.layer))] = tile.window;
  if (compared_) compared_->see(tile, grid_.first_row(tile.layer));
  for (Index head = 0; head < tile.heads(); ++head) {
    const Index row = grid_.first_row(tile.layer) + head;
    const MatrixView32& weights = tile.weights[static_cast<std::size_t>(head)];
    add_rows(sums_[all_pairs], row, tile.first_row, weights);
    // The other kinds differ from `all` by a few positions: what they leave out is summed, and taken off at the end.
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

/// Sum over the pairs (i, i+t) both of which count, for |t| <= reach, of a value that belongs to the key, or under a
/// causal mask to the query: a difference of prefix sums, less the few whose partner does not count.
Vector OffsetTraceProbe::sum_along(Eigen::Ref<const Vector> values, std::size_t pairs) const {
  const Side& side = causal() ? queries_ : keys_;
  const Side& other = causal() ? keys_ : queries_;
  Vector prefix = Vector::Zero(side.length + 1);
  for (Index j = 0; j < side.length; ++j)
    prefix[j + 1] = prefix[j] + (side.kept[pairs][static_cast<std::size_t>(j)] ? values[j] : 0.0);
  Vector sums = Vector::Zero(2 * reach_ + 1);
  const Index near = std::min(reach_, length_ - 1);
  for (Index t = -near; t <= near; ++t) {
    // Position j of this side stands at partner + t, or partner - t where this side is the query's.
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

/// Equation (2), divided by the count of pairs.
void OffsetTraceProbe::set_null(std::size_t pairs, const Sums& sums, DocumentTraces& result) const {
  const Matrix undefined = Matrix::Constant(grid_.rows(), 2 * reach_ + 1, not_defined);
  result.null_weight[pairs] = result.null_variance[pairs] = result.null_third[pairs] = undefined;
  const auto n = static_cast<double>(queries_.length - static_cast<Index>(queries_.dropped[pairs].size()));
  if (n < 3) return;
  const Index near = std::min(reach_, length_ - 1);
  Vector number = Vector::Constant(2 * reach_ + 1, not_defined);
  for (Index t = -near; t <= near; ++t) {
    const double count = result.count[pairs][t + length_ - 1];
    if (count > 0) number[t + reach_] = count;
  }
  // By key: every other position that counts gives it a weight. By query: it gives to those before it.
  const double givers = kind_ == AttentionKind::cross ? n : n - 1;
  Vector others = Vector::Constant(length_, givers);
  Vector baseline = Vector::Zero(length_);
  for (Index row = 0; row < grid_.rows(); ++row) {
    const Index window = window_of(row);
    if (!causal() && window > 0) continue;  // keys get weight from near by alone: no offset is as good as another
    for (Index i = 0; causal() && i < length_; ++i) {
      others[i] = static_cast<double>(std::max<Index>(1, i - first_key(i, window)));
      baseline[i] = uniform(i, window);
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
    result.null_weight[pairs].row(row) = sum_along(mean, pairs).cwiseQuotient(number).transpose();
    result.null_variance[pairs].row(row) = sum_along(second, pairs).cwiseQuotient(number.cwiseAbs2()).transpose();
    result.null_third[pairs].row(row) =
        sum_along(third, pairs).cwiseQuotient(number.array().cube().matrix()).transpose();
  }
}

DocumentTraces OffsetTraceProbe::taken() {
  DocumentTraces result;
  result.length = length_;
  result.reach = reach_;
  if (compared_) result.deviations = compared_->deviations();
  const Sums& all = sums_[all_pairs];
  for (std::size_t pairs = 0; pairs < pairs_kinds; ++pairs) {
    result.count[pairs] = pair_counts(pairs);
    Sums& sums = sums_[pairs];
    if (pairs != all_pairs) {
      sums.trace = all.trace - sums.trace;
      for (std::size_t power = 0; power < sums.power.size(); ++power)
        sums.power[power] = all.power[power] - sums.power[power];
      // Where no pair is left the difference is rounding, and is nothing.
      for (Index t = 0; t < sums.trace.cols(); ++t)
        if (result.count[pairs][t] == 0.0) sums.trace.col(t).setZero();
      sums.trace = sums.trace.cwiseMax(0.0);
    }
    set_null(pairs, sums, result);
  }
  for (std::size_t pairs = 0; pairs < pairs_kinds; ++pairs) result.trace[pairs] = std::move(sums_[pairs].trace);
  return result;
}

}  // namespace headwave
