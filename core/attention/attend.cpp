#include "attend.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "../algebra/packed_operand.h"
#include "tile_walk.h"

namespace headwave {

namespace {

/// Sizes of a call, checked once.
struct Shape {
  Index queries, keys, valid_queries, valid_keys, d_head, d_value;
};

/// @throws ShapeError if a term is compared and its rows are not there for every offset
template <class Scalar>
void require_compared(const HeadInputs<Scalar>& in) {
  if (in.position_term == nullptr || in.position_term->use() != PositionUse::compared) return;
  if (in.position_key.empty() && in.position_query.empty())
    throw ShapeError(fmt::format("attend: {} need position keys or position queries", in.position_term->name()));
  const Index rows = in.position_term->row(1 - std::max(in.query.rows(), in.key.rows())) + 1;
  for (const MatrixViewOf<Scalar>& compared : {in.position_key, in.position_query})
    if (!compared.empty() && (compared.rows() < rows || compared.cols() != in.query.cols()))
      throw ShapeError(
          fmt::format("attend: position keys or queries are ({}, {}), expected {} or more rows of width {}",
                      compared.rows(), compared.cols(), rows, in.query.cols()));
}

template <class Scalar>
Shape checked_shape(const HeadInputs<Scalar>& in, const Mask<Scalar>& mask) {
  if (in.heads < 1 || in.kv_heads < 1 || in.heads % in.kv_heads != 0)
    throw ShapeError(fmt::format("attend: {} query heads cannot share {} key heads evenly", in.heads, in.kv_heads));
  if (in.query.cols() % in.heads != 0 || in.key.cols() % in.kv_heads != 0 ||
      in.query.cols() / in.heads != in.key.cols() / in.kv_heads)
    throw ShapeError(
        fmt::format("attend: query width {} for {} heads and key width {} for {} heads give different head widths",
                    in.query.cols(), in.heads, in.key.cols(), in.kv_heads));
  if (!in.value.empty() && (in.value.rows() != in.key.rows() || in.value.cols() % in.kv_heads != 0))
    throw ShapeError(fmt::format("attend: values are ({}, {}), expected {} rows and a width that {} heads divide",
                                 in.value.rows(), in.value.cols(), in.key.rows(), in.kv_heads));
  if (!mask.additive.empty() && (mask.additive.rows() != in.query.rows() || mask.additive.cols() != in.key.rows()))
    throw ShapeError(fmt::format("attend: the additive mask is ({}, {}), expected ({}, {})", mask.additive.rows(),
                                 mask.additive.cols(), in.query.rows(), in.key.rows()));
  if (mask.valid_queries > in.query.rows() || mask.valid_keys > in.key.rows())
    throw ShapeError(fmt::format("attend: {} valid queries of {} and {} valid keys of {}", mask.valid_queries,
                                 in.query.rows(), mask.valid_keys, in.key.rows()));
  require_compared(in);
  return {in.query.rows(),
          in.key.rows(),
          mask.valid_queries < 0 ? in.query.rows() : mask.valid_queries,
          mask.valid_keys < 0 ? in.key.rows() : mask.valid_keys,
          in.query.cols() / in.heads,
          in.value.cols() / in.kv_heads};
}

/// Softmax over the allowed entries of a row in place, zeros elsewhere; a row where everything is forbidden is zero.
template <class Row>
void softmax_row(Row row, KeySpan allowed) {
  using Scalar = typename Row::Scalar;
  row.head(allowed.first).setZero();
  row.tail(row.size() - allowed.first - allowed.count).setZero();
  kernels<Scalar>().softmax(row.data() + allowed.first, allowed.count);
}

/// Equation (1) of DisentangledTerm, for tiles of scores.
template <class Scalar>
class Compared {
 public:
  /// @param reach  of the furthest offset
  Compared(const HeadInputs<Scalar>& inputs, Index reach) : inputs_(inputs), reach_(reach) {
    for (Index t = -reach; t <= reach; ++t) rows_.push_back(inputs.position_term->row(t));
  }

  /// Adds to the scores of query rows first, first + 1, ..., key block by key block: a block meets few of the rows.
  /// @param query  (rows, d_head) of the head, scaled
  template <class Scores>
  void add(Index head, Index first, const MatrixOf<Scalar>& query, Scores scores) const {
    const Index d = query.cols(), shared = head / (inputs_.heads / inputs_.kv_heads);
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

  const HeadInputs<Scalar>& inputs_;  // of the same Positioned
  std::vector<Index> rows_;           // (2 reach + 1)
  Index reach_;
};

/// Queries and keys turned by a rotary term, or the biases an additive term gives to every offset.
template <class Scalar>
class Positioned {
 public:
  Positioned(const HeadInputs<Scalar>& inputs, const Shape& shape) : inputs_(inputs) {
    const PositionTerm* term = inputs.position_term;
    if (term == nullptr) return;
    reach_ = std::max(shape.queries, shape.keys) - 1;
    if (term->use() == PositionUse::compared) compared_.emplace(inputs_, reach_);
    if (term->use() == PositionUse::turned) {
      query_ = inputs.query;
      key_ = inputs.key;
      term->turn(query_, shape.d_head);
      term->turn(key_, shape.d_head);
      inputs_.query = query_;
      inputs_.key = key_;
    }
    if (term->use() != PositionUse::added) return;
    bias_.resize(inputs.heads, 2 * reach_ + 1);
    for (Index head = 0; head < inputs.heads; ++head)
      bias_.row(head) = term->kernel(head, reach_).template cast<Scalar>().transpose();
  }

  [[nodiscard]] const HeadInputs<Scalar>& inputs() const { return inputs_; }

  /// Shows queries and keys, rounded to float, to the probes that want them.
  void show(const HeadInputs<Scalar>& given, const AttentionSite& site, std::span<Probe* const> probes) const {
    if (std::none_of(probes.begin(), probes.end(), [](const Probe* p) { return p->wants_projections(); })) return;
    const Matrix32 query = given.query.template cast<float>(), key = given.key.template cast<float>();
    const bool turns = query_.size() > 0;
    const Matrix32 turned_query = query_.template cast<float>(), turned_key = key_.template cast<float>();
    const LayerProjections shown{
        site.layer, site.kind, query, key, turns ? turned_query : query, turns ? turned_key : key, site.document};
    for (Probe* probe : probes)
      if (probe->wants_projections()) probe->see(shown);
  }

  /// Adds what the term gives one head to the scores of query rows first, first + 1, ...
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

/// Columns of every key head, packed for the products of all tiles.
template <class Scalar, class Part>
std::vector<PackedOperand<Scalar>> packed_by_head(Index kv_heads, const Part& part) {
  std::vector<PackedOperand<Scalar>> packed;
  for (Index head = 0; head < kv_heads; ++head) packed.emplace_back(part(head));
  return packed;
}

}  // namespace

template <class Scalar>
MatrixOf<Scalar> attend(const HeadInputs<Scalar>& given, const Mask<Scalar>& mask, const AttentionSite& site,
                        std::span<Probe* const> probes) {
  const Shape shape = checked_shape(given, mask);
  const Positioned<Scalar> positioned(given, shape);
  const HeadInputs<Scalar>& inputs = positioned.inputs();
  const Index group = inputs.heads / inputs.kv_heads;
  positioned.show(given, site, probes);
  const bool keep_scores = std::any_of(probes.begin(), probes.end(), [](const Probe* p) { return p->wants_scores(); });

  const std::vector<PackedOperand<Scalar>> keys = packed_by_head<Scalar>(inputs.kv_heads, [&](Index head) {
    return inputs.key.block(0, head * shape.d_head, shape.valid_keys, shape.d_head).transpose();
  });
  const std::vector<PackedOperand<Scalar>> values = packed_by_head<Scalar>(
      shape.d_value > 0 ? inputs.kv_heads : 0,
      [&](Index head) { return inputs.value.block(0, head * shape.d_value, shape.valid_keys, shape.d_value); });

  MatrixOf<Scalar> output = MatrixOf<Scalar>::Zero(shape.queries, inputs.heads * shape.d_value);
  const Index most = tile_rows(shape.valid_keys);
  MatrixOf<Scalar> weights(inputs.heads * most, shape.valid_keys);
  MatrixOf<Scalar> scores(keep_scores ? weights.rows() : 0, keep_scores ? weights.cols() : 0);

  // Right of the tile's last diagonal entry a causal mask forbids every key; scores are still whole where a probe asks.
  const auto reach_of = [&](Index end) {
    return mask.causal && !keep_scores ? std::min(shape.valid_keys, end) : shape.valid_keys;
  };
  const auto fill = [&](TileOf<Scalar>& tile, Index rows) {
    const Index first = tile.first_row, reach = reach_of(first + rows);
    for (Index head = 0; head < inputs.heads; ++head) {
      const auto shared = static_cast<std::size_t>(head / group);
      auto tile_weights = weights.middleRows(head * most, rows);
      const MatrixOf<Scalar> query =
          inputs.query.block(first, head * shape.d_head, rows, shape.d_head) * static_cast<Scalar>(inputs.scale);
      keys[shared].multiply(tile_weights.leftCols(keys[shared].columns_for(reach)), query);
      if (inputs.soft_cap > 0) {
        const auto cap = static_cast<Scalar>(inputs.soft_cap);
        tile_weights.leftCols(reach) = cap * (tile_weights.leftCols(reach).array() / cap).tanh();
      }
      positioned.add_term(head, first, query, tile_weights.leftCols(reach));
      if (keep_scores) {
        scores.middleRows(head * most, rows) = tile_weights;
        tile.scores.emplace_back(scores.middleRows(head * most, rows));
      }
      for (Index i = 0; i < rows; ++i) {
        const KeySpan allowed = allowed_keys(first + i, shape.valid_keys, mask.causal, mask.window);
        if (!mask.additive.empty())
          tile_weights.row(i).segment(allowed.first, allowed.count) +=
              mask.additive.row(first + i).segment(allowed.first, allowed.count);
        softmax_row(tile_weights.row(i), allowed);
      }
      // While the head's rows are still in the cache.
      if (shape.d_value > 0)
        values[shared].multiply(output.block(first, head * shape.d_value, rows, shape.d_value),
                                tile_weights.leftCols(reach));
      tile.weights.emplace_back(tile_weights);
    }
  };
  walk_tiles(
      TileOf<Scalar>{
          site.layer, site.kind, 0, shape.valid_queries, shape.valid_keys, mask.window, {}, {}, site.document},
      probes, fill);
  return output;
}

template MatrixOf<float> attend(const HeadInputs<float>&, const Mask<float>&, const AttentionSite&,
                                std::span<Probe* const>);
template MatrixOf<double> attend(const HeadInputs<double>&, const Mask<double>&, const AttentionSite&,
                                 std::span<Probe* const>);

}  // namespace headwave
