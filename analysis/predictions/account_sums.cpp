#include "account_sums.h"

#include <algorithm>
#include <utility>

#include "../attention/offset_trace.h"

namespace headwave {

LayerAccountSums& LayerAccountSums::operator+=(const LayerAccountSums& other) {
  query += other.query;
  key += other.key;
  scores += other.scores;
  squares += other.squares;
  weights += other.weights;
  return *this;
}

LayerAccountSums& LayerAccountSums::operator-=(const LayerAccountSums& other) {
  query -= other.query;
  key -= other.key;
  scores -= other.scores;
  squares -= other.squares;
  weights -= other.weights;
  return *this;
}

AccountSums& AccountSums::operator+=(const AccountSums& other) {
  if (layers.empty()) {
    *this = other;
    return *this;
  }
  for (std::size_t l = 0; l < layers.size(); ++l) layers[l] += other.layers[l];
  documents += other.documents;
  return *this;
}

AccountProbe::AccountProbe(HeadGrid grid, Index length, Index reach, AttentionKind kind, bool scores)
    : grid_(std::move(grid)), length_(length), reach_(reach), kind_(kind), scores_(scores) {
  const Matrix lags = Matrix::Zero(grid_.heads, diagonals(length_));
  sums_.documents = 1;
  for (std::size_t l = 0; l < grid_.layers.size(); ++l)
    sums_.layers.push_back({{}, {}, lags, lags, Matrix::Zero(grid_.heads, 2 * reach_ + 1)});
}

LayerAccountSums* AccountProbe::layer_of(Index layer, AttentionKind kind) {
  const Index place = grid_.place_of(layer);
  if (kind != kind_ || place < 0) return nullptr;
  return &sums_.layers[static_cast<std::size_t>(place)];
}

void AccountProbe::see(const LayerProjections& projections) {
  LayerAccountSums* layer = layer_of(projections.layer, projections.kind);
  if (layer == nullptr) return;
  layer->query = projections.turned_query;
  layer->key = projections.turned_key;
}

void AccountProbe::see(const Tile& tile) {
  LayerAccountSums* layer = layer_of(tile.layer, tile.kind);
  if (layer == nullptr || tile.queries != length_ || tile.keys != length_) return;
  Vector row(length_);
  for (Index head = 0; head < tile.heads(); ++head)
    for (Index r = 0; r < tile.rows(); ++r) {
      const Index i = tile.first_row + r;
      if (i == 0) continue;
      const KeySpan open = tile.allowed_keys(i);
      const Index kept = std::max<Index>(1, open.first);
      if (scores_) {
        auto scores = row.head(open.count);
        scores = tile.scores[static_cast<std::size_t>(head)]
                     .row(r)
                     .segment(open.first, open.count)
                     .transpose()
                     .cast<double>();
        scores.array() -= scores.mean();
        const auto others = scores.tail(open.end() - kept).transpose();
        const Index lag = kept - i + length_ - 1;
        layer->scores.row(head).segment(lag, open.end() - kept) += others;
        layer->squares.row(head).segment(lag, open.end() - kept) += others.cwiseAbs2();
      }
      const Index near = std::max(kept, i - reach_), near_end = std::min(open.end(), i + reach_ + 1);
      layer->weights.row(head).segment(near - i + reach_, near_end - near) +=
          tile.weights[static_cast<std::size_t>(head)].row(r).segment(near, near_end - near).cast<double>();
    }
}

AccountSums AccountProbe::taken() {
  return std::move(sums_);
}

}  // namespace headwave
