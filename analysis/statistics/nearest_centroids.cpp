#include "nearest_centroids.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "../../core/algebra/product.h"
#include "k_means_start.h"

namespace headwave {

namespace {

constexpr double none = -std::numeric_limits<double>::infinity();

/// Of some points the largest bracket, the first of equals, and the second largest.
struct Largest {
  std::array<double, points_in_cache> best, second;
  std::array<Index, points_in_cache> nearest;

  /// @param scores  (k, points_in_cache at least `width`)
  void find(const Matrix& scores, std::size_t width) {
    nearest.fill(0);
    second.fill(none);
    std::copy_n(scores.data(), width, best.begin());
    for (Index k = 1; k < scores.rows(); ++k) {
      const double* const score = scores.data() + k * scores.cols();
      for (std::size_t i = 0; i < width; ++i) {
        const double less = std::min(score[i], best[i]);
        second[i] = std::max(second[i], less);
        nearest[i] = score[i] > best[i] ? k : nearest[i];
        best[i] = std::max(score[i], best[i]);
      }
    }
  }
};

}  // namespace

NearestCentroids::NearestCentroids(const Matrix& columns)
    : columns_(columns),
      squares_(columns.colwise().squaredNorm().transpose()),
      slack_(64 * std::numeric_limits<double>::epsilon() * static_cast<double>(columns.rows() + 4) *
             (columns.cols() > 0 ? squares_.maxCoeff() : 0.0)),
      labels_(static_cast<std::size_t>(columns.cols()), 0),
      upper_(Vector::Constant(columns.cols(), std::numeric_limits<double>::infinity())),
      lower_(Vector::Zero(columns.cols())) {}

void NearestCentroids::find(const Matrix& centroids) {
  std::vector<Index> all(labels_.size());
  std::iota(all.begin(), all.end(), Index{0});
  look(all, centroids);
}

bool NearestCentroids::follow(const Matrix& before, const Matrix& centroids) {
  const Vector moved = (1 + 1e-12) * (centroids - before).rowwise().norm();
  Index farthest = 0;
  const double most = moved.maxCoeff(&farthest);
  double others = 0;  // the most that any moved but that one
  for (Index k = 0; k < moved.size(); ++k)
    if (k != farthest) others = std::max(others, moved[k]);
  std::vector<Index> unsure;
  for (Index i = 0; i < upper_.size(); ++i) {
    const Index label = labels_[static_cast<std::size_t>(i)];
    upper_[i] += moved[label];
    lower_[i] -= label == farthest ? others : most;
    if (!(upper_[i] < lower_[i])) unsure.push_back(i);
  }
  return look(unsure, centroids);
}

void NearestCentroids::give(Index point, Index centroid) {
  labels_[static_cast<std::size_t>(point)] = centroid;
  upper_[point] = std::numeric_limits<double>::infinity();
}

bool NearestCentroids::look(const std::vector<Index>& points, const Matrix& centroids) {
  const Vector half_norms = 0.5 * centroids.rowwise().squaredNorm();
  Matrix near(columns_.rows(), points_in_cache), scores(centroids.rows(), points_in_cache);
  Largest largest;
  bool changed = false;
  const auto count = static_cast<Index>(points.size());
  for (Index first = 0; first < count; first += points_in_cache) {
    const Index width = std::min(points_in_cache, count - first);
    const auto point = [&](Index i) { return points[static_cast<std::size_t>(first + i)]; };
    if (point(width - 1) - point(0) == width - 1) {
      multiply(scores.leftCols(width), centroids, columns_.middleCols(point(0), width));
    } else {
      for (Index j = 0; j < near.rows(); ++j)
        for (Index i = 0; i < width; ++i) near(j, i) = columns_(j, point(i));
      multiply(scores.leftCols(width), centroids, near.leftCols(width));
    }
    scores.leftCols(width).colwise() -= half_norms;
    largest.find(scores, static_cast<std::size_t>(width));
    for (Index i = 0; i < width; ++i) {
      const Index at = point(i);
      const auto in_block = static_cast<std::size_t>(i);
      Index& label = labels_[static_cast<std::size_t>(at)];
      changed = changed || label != largest.nearest[in_block];
      label = largest.nearest[in_block];
      upper_[at] = std::sqrt(std::max(0.0, squares_[at] - 2 * largest.best[in_block]) + slack_);
      lower_[at] = std::sqrt(std::max(0.0, squares_[at] - 2 * largest.second[in_block] - slack_));
    }
  }
  return changed;
}

}  // namespace headwave
