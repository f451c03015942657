#include "attend.h"

#include <algorithm>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "../algebra/product.h"
#include "position_term.h"
#include "probe.h"

namespace headwave {

namespace {

/// @throws ShapeError if disentangled attention lacks rows for some offset
template <class Scalar>
void require_compared(const HeadInputs<Scalar>& in) {
  if (!in.position_term.compared) return;
  if (in.position_key.empty() && in.position_query.empty())
    throw ShapeError(fmt::format("attend: {} need position keys or position queries", in.position_term.name()));
  const Index rows = in.position_term.compared->row(1 - std::max(in.query.rows(), in.key.rows())) + 1;
  for (const MatrixViewOf<Scalar>& compared : {in.position_key, in.position_query})
    if (!compared.empty() && (compared.rows() < rows || compared.cols() != in.query.cols()))
      throw ShapeError(
          fmt::format("attend: position keys or queries are ({}, {}), expected {} or more rows of width {}",
                      compared.rows(), compared.cols(), rows, in.query.cols()));
}

template <class Scalar>
void require_shapes(const HeadInputs<Scalar>& in, const Mask<Scalar>& mask) {
  const Index queries = in.query.rows(), keys = in.key.rows(), offsets = 2 * std::max(queries, keys) - 1;
  if (in.heads < 1 || in.kv_heads < 1 || in.heads % in.kv_heads != 0)
    throw ShapeError(fmt::format("attend: {} query heads cannot share {} key heads evenly", in.heads, in.kv_heads));
  if (in.query.cols() % in.heads != 0 || in.key.cols() % in.kv_heads != 0 ||
      in.query.cols() / in.heads != in.key.cols() / in.kv_heads)
    throw ShapeError(
        fmt::format("attend: the head widths differ: queries of width {} for {} heads, keys of width {} for {} heads",
                    in.query.cols(), in.heads, in.key.cols(), in.kv_heads));
  if (!in.value.empty() && (in.value.rows() != keys || in.value.cols() % in.kv_heads != 0))
    throw ShapeError(fmt::format("attend: values are ({}, {}), expected {} rows and a width that {} heads divide",
                                 in.value.rows(), in.value.cols(), keys, in.kv_heads));
  if (!mask.additive.empty() && (mask.additive.rows() != queries || mask.additive.cols() != keys))
    throw ShapeError(fmt::format("attend: the additive mask is ({}, {}), expected ({}, {})", mask.additive.rows(),
                                 mask.additive.cols(), queries, keys));
  if (!in.added.empty() && (in.added.rows() != in.heads || in.added.cols() != offsets))
    throw ShapeError(fmt::format("attend: the bias added to the scores is ({}, {}), expected ({} heads, {} offsets)",
                                 in.added.rows(), in.added.cols(), in.heads, offsets));
  if (!in.sinks.empty() && in.sinks.size() != in.heads)
    throw ShapeError(fmt::format("attend: {} sinks, expected one for each of {} heads", in.sinks.size(), in.heads));
  require_compared(in);
}

/// Adds the disentangled terms of DisentangledTerm (1) to tiles of scores.
template <class Scalar>
class Compared {
 public:
  /// @param reach  largest offset of the sequence
  Compared(const HeadInputs<Scalar>& inputs, Index reach) : inputs_(inputs), reach_(reach) {
    for (Index t = -reach; t <= reach; ++t) rows_.push_back(inputs.position_term.compared->row(t));
  }

  /// Adds to the scores of query rows first, first + 1, ... in blocks of keys: a block needs few rows of P
  /// and R.
  /// @param query  (rows, d_head) of the head, scaled
  template <class Scores>
  void add(Index head, Index first, const MatrixOf<Scalar>& query, Scores scores) const {
    const Index d = query.cols(), shared = inputs_.key_head(head);
    constexpr Index keys_at_once = 64;
    for (Index at = 0; at < scores.cols(); at += keys_at_once) {
      auto block = scores.middleCols(at, std::min(keys_at_once, scores.cols() - at));
      const Index low = row(at + block.cols() - 1 - first), high = row(at - first - block.rows() + 1);
      const auto rows_of = [&](const MatrixViewOf<Scalar>& all) { return all.block(low, head * d, high - low + 1, d); };
      MatrixOf<Scalar> seen;
      if (!inputs_.position_key.empty()) {
        seen = product(query, rows_of(inputs_.position_key).transpose());
        for (Index i = 0; i < block.rows(); ++i)
          for (Index j = 0; j < block.cols(); ++j) block(i, j) += seen(i, row(at + j - first - i) - low);
      }
      if (!inputs_.position_query.empty()) {
        const MatrixOf<Scalar> key =
            inputs_.key.block(at, shared * d, block.cols(), d) * static_cast<Scalar>(inputs_.scale);
        seen = product(rows_of(inputs_.position_query), key.transpose());
        for (Index i = 0; i < block.rows(); ++i)
          for (Index j = 0; j < block.cols(); ++j) block(i, j) += seen(row(at + j - first - i) - low, j);
      }
    }
  }

 private:
  [[nodiscard]] Index row(Index offset) const { return rows_[static_cast<std::size_t>(offset + reach_)]; }

  const HeadInputs<Scalar>& inputs_;  // owned by the same Positioned
  std::vector<Index> rows_;           // (2 reach + 1)
  Index reach_;
};

/// Applies a position term: rotates queries and keys, or holds the biases of all offsets.
template <class Scalar>
class Positioned {
 public:
  explicit Positioned(const HeadInputs<Scalar>& inputs) : inputs_(inputs) {
    const PositionTerm& term = inputs.position_term;
    reach_ = std::max(inputs.query.rows(), inputs.key.rows()) - 1;
    bias_ = inputs.added;
    if (term.compared) compared_.emplace(inputs_, reach_);
    if (term.turned) {
      query_ = inputs.query;
      key_ = inputs.key;
      const Index d_head = inputs.query.cols() / inputs.heads;
      term.turned->turn(query_, d_head);
      term.turned->turn(key_, d_head);
      inputs_.query = query_;
      inputs_.key = key_;
    }
    if (!term.added) return;
    if (bias_.size() == 0) bias_ = MatrixOf<Scalar>::Zero(inputs.heads, 2 * reach_ + 1);
    for (Index head = 0; head < inputs.heads; ++head)
      bias_.row(head) += term.added->kernel(head, reach_).template cast<Scalar>().transpose();
  }

  [[nodiscard]] const HeadInputs<Scalar>& inputs() const { return inputs_; }

  /// Shows queries and keys, rounded to float, to the probes that want them.
  void show(const HeadInputs<Scalar>& given, const AttentionSite& site, std::span<Probe* const> probes) const {
    if (std::none_of(probes.begin(), probes.end(), [](const Probe* p) { return p->wants_projections(); })) return;
    const Matrix32 query = given.query.template cast<float>(), key = given.key.template cast<float>();
    const bool turns = query_.size() > 0;
    const Matrix32 turned_query = query_.template cast<float>(), turned_key = key_.template cast<float>();
    const LayerProjections shown{
        site.layer, site.kind, query, key, turns ? turned_query : query, turns ? turned_key : key};
    for (Probe* probe : probes)
      if (probe->wants_projections()) probe->see(shown);
  }

  /// Adds biases and disentangled terms of one head to the scores of query rows first, first + 1, ...
  /// @param query  (rows, d_head) scaled
  template <class Scores>
  void add_term(Index head, Index first, const MatrixOf<Scalar>& query, Scores scores) const {
    if (compared_) compared_->add(head, first, query, scores);
    if (bias_.size() == 0) return;
    for (Index i = 0; i < scores.rows(); ++i)
      scores.row(i) += bias_.row(head).segment(reach_ - first - i, scores.cols());
  }

 private:
  HeadInputs<Scalar> inputs_;
  MatrixOf<Scalar> query_, key_;
  MatrixOf<Scalar> bias_;  // (heads, 2 reach + 1)
  std::optional<Compared<Scalar>> compared_;
  Index reach_ = 0;
};

/// Softmax in place over the allowed entries of a row, and over the sink if there is one; zeros elsewhere.
/// @param sink  null: there is none
template <class Row>
void softmax_row(Row row, KeySpan allowed, const typename Row::Scalar* sink) {
  using Scalar = typename Row::Scalar;
  row.head(allowed.first).setZero();
  row.tail(row.size() - allowed.first - allowed.count).setZero();
  if (sink == nullptr) {
    kernels<Scalar>().softmax(row.data() + allowed.first, allowed.count);
    return;
  }
  Eigen::Matrix<Scalar, 1, Eigen::Dynamic> beside(allowed.count + 1);
  beside << row.segment(allowed.first, allowed.count), *sink;
  kernels<Scalar>().softmax(beside.data(), beside.size());
  row.segment(allowed.first, allowed.count) = beside.head(allowed.count);
}

/// Equations (1) to (3) for some query rows of one head at a time. Keys and values are packed once.
template <class Scalar>
class HeadRows {
 public:
  /// @param whole  also compute scores of keys that a causal mask forbids to all rows of a tile
  HeadRows(const Positioned<Scalar>& positioned, const Mask<Scalar>& mask, bool whole)
      : positioned_(positioned),
        inputs_(positioned.inputs()),
        mask_(mask),
        whole_(whole),
        n_keys_(inputs_.key.rows()),
        d_head_(inputs_.query.cols() / inputs_.heads),
        d_value_(inputs_.value.cols() / inputs_.kv_heads) {
    for (Index head = 0; head < inputs_.kv_heads; ++head) {
      keys_.emplace_back(inputs_.key.middleCols(head * d_head_, d_head_).transpose());
      if (d_value_ > 0) values_.emplace_back(inputs_.value.middleCols(head * d_value_, d_value_));
    }
  }

  /// Writes scores of query rows first, first + 1, ... to `rows`.
  template <class Rows>
  void score(Index head, Index first, Rows rows) const {
    const Index reach = reach_of(first + rows.rows());
    const PackedOperand<Scalar>& keys = keys_[shared(head)];
    const MatrixOf<Scalar> query =
        inputs_.query.block(first, head * d_head_, rows.rows(), d_head_) * static_cast<Scalar>(inputs_.scale);
    keys.multiply(rows.leftCols(keys.columns_for(reach)), query);
    if (inputs_.soft_cap > 0) {
      const auto cap = static_cast<Scalar>(inputs_.soft_cap);
      rows.leftCols(reach) = cap * (rows.leftCols(reach).array() / cap).tanh();
    }
    positioned_.add_term(head, first, query, rows.leftCols(reach));
  }

  /// Turns the scores of one head into weights, in place.
  template <class Rows>
  void weigh(Index head, Index first, Rows rows) const {
    const Scalar* sink = inputs_.sinks.empty() ? nullptr : inputs_.sinks.data() + head;
    for (Index i = 0; i < rows.rows(); ++i) {
      const KeySpan allowed = allowed_keys(first + i, n_keys_, mask_.causal, mask_.window, mask_.chunk);
      if (!mask_.additive.empty())
        rows.row(i).segment(allowed.first, allowed.count) +=
            mask_.additive.row(first + i).segment(allowed.first, allowed.count);
      softmax_row(rows.row(i), allowed, sink);
    }
  }

  /// Writes weights times values to the head's columns of the output.
  template <class Rows>
  void use(Index head, Index first, const Rows& rows, MatrixOf<Scalar>& output) const {
    if (d_value_ == 0) return;
    values_[shared(head)].multiply(output.block(first, head * d_value_, rows.rows(), d_value_),
                                   rows.leftCols(reach_of(first + rows.rows())));
  }

 private:
  [[nodiscard]] std::size_t shared(Index head) const { return static_cast<std::size_t>(inputs_.key_head(head)); }
  /// The number of keys to compute: a causal mask forbids all keys right of the last row's diagonal entry.
  [[nodiscard]] Index reach_of(Index end) const { return mask_.causal && !whole_ ? std::min(n_keys_, end) : n_keys_; }

  const Positioned<Scalar>& positioned_;
  const HeadInputs<Scalar>& inputs_;
  const Mask<Scalar>& mask_;
  bool whole_;
  Index n_keys_, d_head_, d_value_;
  std::vector<PackedOperand<Scalar>> keys_, values_;  // by key head
};

}  // namespace

template <class Scalar>
MatrixOf<Scalar> attend(const HeadInputs<Scalar>& given, const Mask<Scalar>& mask, const AttentionSite& site,
                        std::span<Probe* const> probes) {
  require_shapes(given, mask);
  const Positioned<Scalar> positioned(given);
  positioned.show(given, site, probes);
  const bool keep_scores = std::any_of(probes.begin(), probes.end(), [](const Probe* p) { return p->wants_scores(); });
  const HeadRows<Scalar> heads(positioned, mask, keep_scores);

  MatrixOf<Scalar> output =
      MatrixOf<Scalar>::Zero(given.query.rows(), given.heads * (given.value.cols() / given.kv_heads));
  const Index most = tile_rows(given.key.rows());
  MatrixOf<Scalar> weights(given.heads * most, given.key.rows());
  MatrixOf<Scalar> scores(keep_scores ? weights.rows() : 0, keep_scores ? weights.cols() : 0);
  const auto fill = [&](TileOf<Scalar>& tile, Index rows) {
    for (Index head = 0; head < given.heads; ++head) {
      auto of_head = weights.middleRows(head * most, rows);
      heads.score(head, tile.first_row, of_head);
      if (keep_scores) scores.middleRows(head * most, rows) = of_head;
      heads.weigh(head, tile.first_row, of_head);
      heads.use(head, tile.first_row, of_head, output);
      tile.weights.emplace_back(of_head);
      if (keep_scores) tile.scores.emplace_back(scores.middleRows(head * most, rows));
    }
  };
  walk_tiles(TileOf<Scalar>{.layer = site.layer,
                            .kind = site.kind,
                            .queries = given.query.rows(),
                            .keys = given.key.rows(),
                            .window = mask.window,
                            .weights = {},
                            .scores = {},
                            .chunk = mask.chunk,
                            .sinks = !given.sinks.empty()},
             probes, fill, mask.rows);
  return output;
}

template MatrixOf<float> attend(const HeadInputs<float>&, const Mask<float>&, const AttentionSite&,
                                std::span<Probe* const>);
template MatrixOf<double> attend(const HeadInputs<double>&, const Mask<double>&, const AttentionSite&,
                                 std::span<Probe* const>);

}  // namespace headwave
