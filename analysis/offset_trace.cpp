#include "headwave/analysis/offset_trace.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

namespace headwave {

namespace {

constexpr std::size_t all = static_cast<std::size_t>(Pairs::all);

Index diagonals(Index length) {
  return 2 * length - 1;
}

bool counts(Pairs kind, const Document& document, Index position) {
  if (kind == Pairs::all) return true;
  if (document.is_special(position)) return false;
  return kind == Pairs::without_special || position > 0;
}

/// Number of pairs (i, i+t) both of which count, for every t; none to the right under a causal mask.
Vector pair_counts(const std::vector<bool>& kept, bool causal) {
  const auto length = static_cast<Index>(kept.size());
  Vector count = Vector::Zero(diagonals(length));
  for (Index i = 0; i < length; ++i) {
    if (!kept[static_cast<std::size_t>(i)]) continue;
    for (Index j = 0; j < (causal ? i + 1 : length); ++j)
      if (kept[static_cast<std::size_t>(j)]) count[j - i + length - 1] += 1.0;
  }
  return count;
}

}  // namespace

Axis pairs_axis() {
  return {"pairs", "1", "which query-key pairs are counted",
          std::vector<std::string>{"all", "without_special", "without_sink"}};
}

Index HeadGrid::first_row(Index layer) const {
  const auto found = std::lower_bound(layers.begin(), layers.end(), layer);
  if (found == layers.end() || *found != layer)
    throw ShapeError(
        fmt::format("attention of layer {} came, which was not announced; {} layers were", layer, layers.size()));
  return static_cast<Index>(found - layers.begin()) * heads;
}

OffsetTraceProbe::OffsetTraceProbe(HeadGrid grid, const Document& document, Index reach)
    : grid_(std::move(grid)), length_(document.length()), reach_(reach) {
  for (std::size_t kind = 0; kind < pairs_kinds; ++kind) {
    for (Index i = 0; i < length_; ++i) {
      const bool keep = counts(static_cast<Pairs>(kind), document, i);
      kept_[kind].push_back(keep);
      if (!keep) dropped_[kind].push_back(i);
    }
    sums_[kind] = {Matrix::Zero(grid_.rows(), diagonals(length_)), Matrix::Zero(grid_.rows(), length_),
                   Vector::Zero(grid_.rows()), Vector::Zero(grid_.rows())};
  }
}

void OffsetTraceProbe::add_row(Sums& sums, Index row, Index query, Eigen::Ref<const Vector> weights, double uniform) {
  const Index allowed = causal_ ? query + 1 : length_;
  const auto open = weights.head(allowed);
  const double own = weights[query];
  sums.trace.row(row).segment(length_ - 1 - query, allowed) += open.transpose();
  sums.column.row(row).head(allowed) += open.transpose();
  sums.column(row, query) -= own;
  sums.squares[row] += open.squaredNorm() - own * own;
  if (causal_) sums.spread[row] += (open.array() - uniform).square().sum() - (own - uniform) * (own - uniform);
}

void OffsetTraceProbe::add_pair(Sums& sums, Index row, Index query, Index key, double weight, double uniform) {
  sums.trace(row, key - query + length_ - 1) += weight;
  if (key == query || (causal_ && key > query)) return;
  sums.column(row, key) += weight;
  sums.squares[row] += weight * weight;
  if (causal_) sums.spread[row] += (weight - uniform) * (weight - uniform);
}

void OffsetTraceProbe::see(const Tile& tile) {
  if (tile.heads() != grid_.heads || tile.queries != length_ || tile.keys != length_)
    throw ShapeError(
        fmt::format("offset traces: a tile of {} heads over {} x {} positions came, expected {} over {} x {}",
                    tile.heads(), tile.queries, tile.keys, grid_.heads, length_, length_));
  causal_ = tile.kind == AttentionKind::causal;
  Vector weights(length_);
  for (Index head = 0; head < tile.heads(); ++head) {
    const Index row = grid_.first_row(tile.layer) + head;
    for (Index r = 0; r < tile.rows(); ++r) {
      const Index query = tile.first_row + r;
      const double uniform = 1.0 / static_cast<double>(query + 1);
      weights = tile.weights[static_cast<std::size_t>(head)].row(r).transpose().cast<double>();
      add_row(sums_[all], row, query, weights, uniform);
      // The other kinds differ from `all` by a few positions: what they leave out is summed, and taken off at the end.
      for (std::size_t kind = all + 1; kind < pairs_kinds; ++kind) {
        if (!kept_[kind][static_cast<std::size_t>(query)])
          add_row(sums_[kind], row, query, weights, uniform);
        else
          for (const Index key : dropped_[kind]) add_pair(sums_[kind], row, query, key, weights[key], uniform);
      }
    }
  }
}

/// Sum of received[j] over the pairs (j-t, j) both of which count, for |t| <= reach: a difference of prefix sums, less
/// the few whose query does not count.
Vector OffsetTraceProbe::received_at(Eigen::Ref<const Vector> received, std::size_t kind) const {
  Vector prefix = Vector::Zero(length_ + 1);
  for (Index j = 0; j < length_; ++j)
    prefix[j + 1] = prefix[j] + (kept_[kind][static_cast<std::size_t>(j)] ? received[j] : 0.0);
  Vector sums = Vector::Zero(2 * reach_ + 1);
  const Index near = std::min(reach_, length_ - 1);
  for (Index t = -near; t <= near; ++t) {
    double& sum = sums[t + reach_];
    sum = prefix[std::min(length_, length_ + t)] - prefix[std::max<Index>(0, t)];
    for (const Index query : dropped_[kind]) {
      const Index key = query + t;
      if (key >= 0 && key < length_ && kept_[kind][static_cast<std::size_t>(key)]) sum -= received[key];
    }
  }
  return sums;
}

/// Equation (2), or the uniform baseline under a causal mask.
void OffsetTraceProbe::set_null(std::size_t kind, const Sums& sums, DocumentTraces& result) const {
  Matrix& mean = result.null_weight[kind] = Matrix::Zero(grid_.rows(), 2 * reach_ + 1);
  Matrix& variance = result.null_variance[kind] = Matrix::Zero(grid_.rows(), 2 * reach_ + 1);
  const auto n = static_cast<double>(length_ - static_cast<Index>(dropped_[kind].size()));
  if (n < 3) return;
  const Index near = std::min(reach_, length_ - 1);
  Vector pairs = Vector::Zero(2 * reach_ + 1);
  pairs.segment(reach_ - near, 2 * near + 1) = result.count[kind].segment(length_ - 1 - near, 2 * near + 1);
  const Vector share = (pairs.array() > 0).select(pairs.cwiseInverse(), 0.0);

  if (causal_) {
    Vector uniform = Vector::Zero(2 * reach_ + 1);
    for (Index i = 0; i < length_; ++i)
      for (Index t = -std::min(near, i); t <= 0 && kept_[kind][static_cast<std::size_t>(i)]; ++t)
        if (kept_[kind][static_cast<std::size_t>(i + t)]) uniform[t + reach_] += 1.0 / static_cast<double>(i + 1);
    mean.rowwise() = uniform.cwiseProduct(share).transpose();
    variance = (sums.spread / n) * share.transpose();
    return;
  }
  const Vector squares = sums.squares - sums.column.rowwise().squaredNorm() / (n - 1);
  variance = (squares.cwiseMax(0.0) / (n * (n - 2))) * share.transpose();
  for (Index row = 0; row < grid_.rows(); ++row)
    mean.row(row) = (received_at(sums.column.row(row).transpose(), kind) / (n - 1)).cwiseProduct(share).transpose();
}

DocumentTraces OffsetTraceProbe::traces() const {
  DocumentTraces result;
  result.length = length_;
  result.reach = reach_;
  for (std::size_t kind = 0; kind < pairs_kinds; ++kind) {
    result.count[kind] = pair_counts(kept_[kind], causal_);
    Sums sums = sums_[all];
    if (kind != all) {
      sums.trace -= sums_[kind].trace;
      sums.column -= sums_[kind].column;
      sums.squares -= sums_[kind].squares;
      sums.spread -= sums_[kind].spread;
      // Where no pair is left the difference is rounding, and is nothing.
      for (Index t = 0; t < sums.trace.cols(); ++t)
        if (result.count[kind][t] == 0.0) sums.trace.col(t).setZero();
      sums.trace = sums.trace.cwiseMax(0.0);
    }
    set_null(kind, sums, result);
    result.trace[kind] = std::move(sums.trace);
  }
  return result;
}

OffsetTraceSum::OffsetTraceSum(HeadGrid grid, Index documents, Index length, Index reach) {
  const Index rows = grid.rows();
  sum_.grid = std::move(grid);
  sum_.length = length;
  sum_.reach = reach;
  sum_.by_document = Matrix::Zero(documents * rows, 2 * reach + 1);
  for (std::size_t kind = 0; kind < pairs_kinds; ++kind) {
    sum_.trace[kind] = sum_.weight[kind] = Matrix::Zero(rows, diagonals(length));
    sum_.count[kind] = documents_with_pairs_[kind] = Vector::Zero(diagonals(length));
    sum_.null_weight[kind] = sum_.null_deviation[kind] = Matrix::Zero(rows, 2 * reach + 1);
  }
}

void OffsetTraceSum::add(const DocumentTraces& document) {
  const Index rows = sum_.grid.rows();
  const Index width = diagonals(document.length);
  const Index first = sum_.length - document.length;
  const Index near = std::min(sum_.reach, document.length - 1);
  sum_.by_document.block(sum_.documents * rows, sum_.reach - near, rows, 2 * near + 1) =
      document.trace[all].middleCols(document.length - 1 - near, 2 * near + 1);
  for (std::size_t kind = 0; kind < pairs_kinds; ++kind) {
    sum_.trace[kind].middleCols(first, width) += document.trace[kind];
    sum_.count[kind].segment(first, width) += document.count[kind];
    for (Index t = 0; t < width; ++t) {
      if (document.count[kind][t] == 0.0) continue;
      sum_.weight[kind].col(first + t) += document.trace[kind].col(t) / document.count[kind][t];
      documents_with_pairs_[kind][first + t] += 1.0;
    }
    sum_.null_weight[kind] += document.null_weight[kind];
    sum_.null_deviation[kind] += document.null_variance[kind];
  }
  ++sum_.documents;
}

OffsetTraces OffsetTraceSum::traces() const {
  OffsetTraces traces = sum_;
  const auto documents = static_cast<double>(traces.documents);
  for (std::size_t kind = 0; kind < pairs_kinds; ++kind) {
    if (!traces.trace[kind].allFinite())
      throw NumericError(
          "offset traces: an attention weight is not finite; look for NaN or huge values in the model's weights");
    traces.trace[kind] /= documents;
    traces.count[kind] /= documents;
    // 0 / 0 is NaN: no document has a pair at that offset.
    traces.weight[kind].array().rowwise() /= documents_with_pairs_[kind].transpose().array();
    const Vector near =
        documents_with_pairs_[kind].segment(traces.length - 1 - std::min(traces.reach, traces.length - 1),
                                            2 * std::min(traces.reach, traces.length - 1) + 1);
    const Index first = traces.reach - (near.size() - 1) / 2;
    for (Index t = 0; t < near.size(); ++t) {
      traces.null_weight[kind].col(first + t) /= std::max(1.0, near[t]);
      traces.null_deviation[kind].col(first + t) =
          traces.null_deviation[kind].col(first + t).cwiseSqrt() / std::max(1.0, near[t]);
    }
  }
  return traces;
}

namespace {

/// The matrices of all kinds of Pairs behind one another: (pairs, layer, head, columns), or (pairs, columns) of
/// vectors.
template <class Array>
std::vector<double> joined(const std::array<Array, pairs_kinds>& arrays) {
  std::vector<double> values;
  for (const Array& array : arrays) values.insert(values.end(), array.data(), array.data() + array.size());
  return values;
}

}  // namespace

std::vector<Field> describe(const OffsetTraces& traces) {
  const Axis layer = layer_axis(traces.grid.layers);
  const Axis head = head_axis(traces.grid.heads);
  const Axis offset = offset_axis("offset", -(traces.length - 1), traces.length - 1);
  const Axis near = offset_axis("near_offset", -traces.reach, traces.reach);
  std::vector<Field> fields{
      make_field("offset_trace/mean_weight", {pairs_axis(), layer, head, offset}, "1",
                 "mean attention weight at an offset: trace / count, averaged over documents", joined(traces.weight)),
      make_field("offset_trace/trace", {pairs_axis(), layer, head, offset}, "1",
                 "attention weight summed along a diagonal, averaged over documents", joined(traces.trace)),
      make_field("offset_trace/count", {pairs_axis(), offset}, "1",
                 "query-key pairs at an offset, averaged over documents", joined(traces.count)),
      make_field("offset_trace/null_weight", {pairs_axis(), layer, head, near}, "1",
                 "mean attention weight expected at an offset if the queries are shuffled", joined(traces.null_weight)),
      make_field("offset_trace/null_deviation", {pairs_axis(), layer, head, near}, "1",
                 "standard deviation of null_weight", joined(traces.null_deviation)),
      make_field("offset_trace/by_document", {document_axis(traces.documents), layer, head, near}, "1",
                 "attention weight summed along a diagonal, all pairs of one document",
                 {traces.by_document.data(), traces.by_document.data() + traces.by_document.size()})};
  fields.front().attributes["undefined"] = std::string("no document has a pair of that kind at that offset");
  return fields;
}

}  // namespace headwave
