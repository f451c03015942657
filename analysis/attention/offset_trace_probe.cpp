#include "offset_trace_probe.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "../../core/algebra/kernels.h"

namespace headwave {

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
