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
  const auto place = std::find(grid_.layers.begin(), grid_.layers.end(), layer);
  if (kind != kind_ || place == grid_.layers.end()) return nullptr;
  return &sums_.layers[static_cast<std::size_t>(place - grid_.layers.begin())];
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
  const bool causal = kind_ == AttentionKind::causal;
  Vector row(length_);
  for (Index head = 0; head < tile.heads(); ++head)
    for (Index r = 0; r < tile.rows(); ++r) {
      const Index i = tile.first_row + r;
      if (i == 0) continue;
      const Index end = causal ? i + 1 : length_;
      const Index first = causal && tile.window > 0 ? std::max<Index>(0, i - tile.window + 1) : 0;
      const Index kept = std::max<Index>(1, first);
      if (scores_) {
        auto open = row.head(end - first);
        open =
            tile.scores[static_cast<std::size_t>(head)].row(r).segment(first, end - first).transpose().cast<double>();
        open.array() -= open.mean();
        const auto others = open.tail(end - kept).transpose();
        const Index lag = kept - i + length_ - 1;
        layer->scores.row(head).segment(lag, end - kept) += others;
        layer->squares.row(head).segment(lag, end - kept) += others.cwiseAbs2();
      }
      const Index near = std::max(kept, i - reach_), near_end = std::min(end, i + reach_ + 1);
      layer->weights.row(head).segment(near - i + reach_, near_end - near) +=
          tile.weights[static_cast<std::size_t>(head)].row(r).segment(near, near_end - near).cast<double>();
    }
}

AccountSums AccountProbe::taken() {
  return std::move(sums_);
}

}  // namespace headwave
