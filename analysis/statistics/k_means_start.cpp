#include "k_means_start.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include <fmt/format.h>

namespace headwave {

namespace {

// min(closest, squared distance to a centre) of every point, for every one of some centres, and their sums: the inertia if that
// point became a centre too. By differences: equal points are at distance zero and are never drawn twice. Centre after centre for
// points that are in the cache.
std::vector<double> lower(const MatrixView& columns, const std::vector<Index>& centres, const Vector& closest,
                          Matrix& lowered) {
  std::vector<double> sums(centres.size(), 0.0);
  for (Index first = 0; first < columns.cols(); first += points_in_cache) {
    const Index width = std::min(points_in_cache, columns.cols() - first);
    Eigen::Array<double, 1, Eigen::Dynamic, Eigen::RowMajor, 1, points_in_cache> distances(width);
    for (std::size_t c = 0; c < centres.size(); ++c) {
      distances.setZero();
      for (Index j = 0; j < columns.rows(); ++j)
        distances += (columns.row(j).segment(first, width).array() - columns(j, centres[c])).square();
      distances = distances.min(closest.segment(first, width).transpose().array());
      sums[c] += distances.sum();
      lowered.row(static_cast<Index>(c)).segment(first, width) = distances;
    }
  }
  return sums;
}

// A point drawn with probability proportional to its share of the cumulative weight; any point where all weights are
// zero.
Index drawn(const std::vector<double>& cumulative, Random& random) {
  const auto count = static_cast<Index>(cumulative.size());
  if (!(cumulative.back() > 0.0)) return random.below(count);
  const auto place = std::upper_bound(cumulative.begin(), cumulative.end(), random.uniform() * cumulative.back());
  return std::min<Index>(place - cumulative.begin(), count - 1);
}

}  // namespace

Matrix k_means_start(MatrixView columns, Index clusters, Random& random) {
  if (clusters < 1 || columns.empty())
    throw ShapeError(fmt::format("k_means_start: expected points and clusters, got {} x {} and {}", columns.rows(),
                                 columns.cols(), clusters));
  const auto candidates = 2 + static_cast<Index>(std::log(static_cast<double>(clusters)));
  Matrix centroids(clusters, columns.rows());
  Vector closest = Vector::Constant(columns.cols(), std::numeric_limits<double>::infinity());
  std::vector<double> cumulative(static_cast<std::size_t>(columns.cols()));
  Index chosen = random.below(columns.cols());
  Matrix lowered(candidates, columns.cols());
  lower(columns, {chosen}, closest, lowered);
  Index best = 0;  // row of `lowered`
  std::vector<Index> points(static_cast<std::size_t>(candidates));
  for (Index k = 0;; ++k) {
    centroids.row(k) = columns.col(chosen).transpose();
    if (k == clusters - 1) return centroids;
    closest = lowered.row(best).transpose();
    std::partial_sum(closest.begin(), closest.end(), cumulative.begin());
    for (Index& point : points) point = drawn(cumulative, random);
    const std::vector<double> inertia = lower(columns, points, closest, lowered);
    const auto least = std::min_element(inertia.begin(), inertia.end());
    best = least - inertia.begin();
    chosen = points[static_cast<std::size_t>(best)];
  }
}

}  // namespace headwave
