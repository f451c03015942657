#include "k_means_start.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include <fmt/format.h>

namespace headwave {

namespace {

// min(closest, squared distance to a centre) of up to `points_in_cache` points. By differences: equal points are at distance zero
// and are never drawn twice.
using Distances = Eigen::Array<double, 1, Eigen::Dynamic, Eigen::RowMajor, 1, points_in_cache>;
Distances lowered(const MatrixView& columns, Index centre, const Vector& closest, Index first) {
  const Index width = std::min(points_in_cache, columns.cols() - first);
  Distances distances = Distances::Zero(width);
  for (Index j = 0; j < columns.rows(); ++j)
    distances += (columns.row(j).segment(first, width).array() - columns(j, centre)).square();
  return distances.min(closest.segment(first, width).transpose().array());
}

// Inertia if this point became a centre too.
double inertia_with(const MatrixView& columns, Index centre, const Vector& closest) {
  double sum = 0.0;
  for (Index first = 0; first < columns.cols(); first += points_in_cache)
    sum += lowered(columns, centre, closest, first).sum();
  return sum;
}

void add_centre(const MatrixView& columns, Index centre, Vector& closest) {
  for (Index first = 0; first < columns.cols(); first += points_in_cache) {
    const Distances distances = lowered(columns, centre, closest, first);
    closest.segment(first, distances.size()) = distances.transpose();
  }
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
  for (Index k = 0;; ++k) {
    centroids.row(k) = columns.col(chosen).transpose();
    if (k == clusters - 1) return centroids;
    add_centre(columns, chosen, closest);
    std::partial_sum(closest.begin(), closest.end(), cumulative.begin());
    double least = std::numeric_limits<double>::infinity();
    for (Index candidate = 0; candidate < candidates; ++candidate) {
      const Index point = drawn(cumulative, random);
      const double inertia = inertia_with(columns, point, closest);
      if (inertia >= least) continue;
      least = inertia;
      chosen = point;
    }
  }
}

}  // namespace headwave
