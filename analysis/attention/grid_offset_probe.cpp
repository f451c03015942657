#include "grid_offset_probe.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace headwave {

namespace {

/// Sums over rectangles that begin at any corner, from sums over those that begin at the first.
class RectangleSums {
 public:
  RectangleSums(const PatchGrid& grid, Eigen::Ref<const Vector> values)
      : sums_(Matrix::Zero(grid.rows + 1, grid.columns + 1)) {
    for (Index r = 0; r < grid.rows; ++r)
      for (Index c = 0; c < grid.columns; ++c)
        sums_(r + 1, c + 1) = values[r * grid.columns + c] + sums_(r, c + 1) + sums_(r + 1, c) - sums_(r, c);
  }
  /// Over the keys whose query, `down` and `right` before them, is on the grid.
  [[nodiscard]] double keys_at(Index down, Index right) const {
    const Index rows = sums_.rows() - 1, columns = sums_.cols() - 1;
    const Index top = std::max<Index>(0, down), bottom = rows + std::min<Index>(0, down);
    const Index left = std::max<Index>(0, right), end = columns + std::min<Index>(0, right);
    return sums_(bottom, end) - sums_(top, end) - sums_(bottom, left) + sums_(top, left);
  }

 private:
  Matrix sums_;
};

}  // namespace

std::vector<Index> GridOffsetProbe::map_queries(const PatchGrid& grid) {
  std::vector<Index> queries;
  for (Index position = 0; position < grid.first; ++position) queries.push_back(position);
  queries.push_back(grid.first + grid.rows / 2 * grid.columns + grid.columns / 2);
  return queries;
}

GridOffsetProbe::GridOffsetProbe(HeadGrid heads, const PatchGrid& grid, const Document& document, bool map,
                                 const PlacePairs* pairs)
    : heads_(std::move(heads)), grid_(grid), lags_(grid) {
  if (document.length() != grid.positions())
    throw ShapeError(fmt::format("{}: {} tokens, but {} rows of {} patches behind {} tokens are {}", document.name,
                                 document.length(), grid.rows, grid.columns, grid.first, grid.positions()));
  const Index rows = heads_.rows(), patches = grid.patches();
  sums_.name = document.name;
  sums_.weight = Matrix::Zero(rows, lags_.count());
  sums_.opening = Matrix::Zero(rows, grid.first);
  sums_.received = Matrix::Zero(rows, patches);
  if (map) sums_.map = Matrix::Zero(rows * static_cast<Index>(map_queries(grid).size()), patches);
  power_.fill(Matrix::Zero(rows, patches));
  if (pairs != nullptr) compared_.emplace(*pairs, heads_, document, AttentionKind::self);
}

void GridOffsetProbe::add_patch(Index row, Index patch, const Vector& weights) {
  const Index query_row = patch / grid_.columns, query_column = patch % grid_.columns;
  const auto keys = weights.tail(grid_.patches());
  for (Index r = 0; r < grid_.rows; ++r)
    sums_.weight.row(row).segment(lags_.place(r - query_row, -query_column), grid_.columns) +=
        keys.segment(r * grid_.columns, grid_.columns).transpose();
  sums_.opening.row(row) += weights.head(grid_.first).transpose();
  sums_.received.row(row) += keys.transpose();
  power_[0].row(row) += keys.transpose();
  power_[1].row(row) += keys.cwiseAbs2().transpose();
  power_[2].row(row) += keys.array().cube().matrix().transpose();
  const double own = keys[patch];
  power_[0](row, patch) -= own;
  power_[1](row, patch) -= own * own;
  power_[2](row, patch) -= own * own * own;
}

void GridOffsetProbe::see(const Tile& tile) {
  if (tile.heads() != heads_.heads || tile.queries != grid_.positions() || tile.keys != grid_.positions())
    throw ShapeError(fmt::format("grid offsets: a tile of {} heads over {} x {} positions came, expected {} over {}",
                                 tile.heads(), tile.queries, tile.keys, heads_.heads, grid_.positions()));
  if (compared_) compared_->see(tile, heads_.first_row(tile.layer));
  const std::vector<Index> shown = map_queries(grid_);
  const auto maps = static_cast<Index>(shown.size());
  Vector weights(tile.keys);
  for (Index head = 0; head < tile.heads(); ++head) {
    const Index row = heads_.first_row(tile.layer) + head;
    for (Index r = 0; r < tile.rows(); ++r) {
      const Index query = tile.first_row + r;
      weights = tile.weights[static_cast<std::size_t>(head)].row(r).transpose().cast<double>();
      if (query >= grid_.first) add_patch(row, query - grid_.first, weights);
      for (Index m = 0; m < maps && sums_.map.size() > 0; ++m)
        if (shown[static_cast<std::size_t>(m)] == query)
          sums_.map.row(row * maps + m) = weights.tail(grid_.patches()).transpose();
    }
  }
}

/// Equation (1).
void GridOffsetProbe::set_null(DocumentGridOffsets& found) const {
  found.null_weight = found.null_variance = found.null_third =
      Matrix::Constant(heads_.rows(), lags_.count(), not_defined);
  const auto others = static_cast<double>(grid_.patches() - 1);
  if (others < 2) return;
  for (Index row = 0; row < heads_.rows(); ++row) {
    const Vector mean = power_[0].row(row).transpose() / others;
    Vector second = power_[1].row(row).transpose() / others, third = power_[2].row(row).transpose() / others;
    third = third.array() - 3 * mean.array() * second.array() + 2 * mean.array().cube();
    second = (second - mean.cwiseAbs2()).cwiseMax(0.0) * (others / (others - 1));
    const RectangleSums means(grid_, mean), variances(grid_, second), thirds(grid_, third);
    for (Index down = 1 - grid_.rows; down < grid_.rows; ++down)
      for (Index right = 1 - grid_.columns; right < grid_.columns; ++right) {
        const Index lag = lags_.place(down, right);
        const double n = lags_.pairs(down, right);
        found.null_weight(row, lag) = means.keys_at(down, right) / n;
        found.null_variance(row, lag) = std::max(0.0, variances.keys_at(down, right)) / (n * n);
        found.null_third(row, lag) = thirds.keys_at(down, right) / (n * n * n);
      }
  }
}

DocumentGridOffsets GridOffsetProbe::found() const {
  DocumentGridOffsets found = sums_;
  for (Index down = 1 - grid_.rows; down < grid_.rows; ++down)
    for (Index right = 1 - grid_.columns; right < grid_.columns; ++right)
      found.weight.col(lags_.place(down, right)) /= lags_.pairs(down, right);
  const auto patches = static_cast<double>(grid_.patches());
  found.opening /= patches;
  found.received /= patches;
  set_null(found);
  if (compared_) found.deviations = compared_->deviations();
  return found;
}

}  // namespace headwave
