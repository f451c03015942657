#include "nearest_centroids.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "../../core/algebra/product.h"

namespace headwave {

namespace {

constexpr Index points_in_cache = 512;  // so many points' distances are worked on together
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

NearestCentroids::NearestCentroids(const Matrix& points)
    : points_(points),
      squares_(points.rowwise().squaredNorm()),
      slack_(64 * std::numeric_limits<double>::epsilon() * static_cast<double>(points.cols() + 4) *
             (points.rows() > 0 ? squares_.maxCoeff() : 0.0)),
      labels_(static_cast<std::size_t>(points.rows()), 0),
      upper_(Vector::Constant(points.rows(), std::numeric_limits<double>::infinity())),
      lower_(Vector::Zero(points.rows())) {}

void NearestCentroids::find(const Matrix& centroids) {
  unsure_.resize(labels_.size());
  std::iota(unsure_.begin(), unsure_.end(), Index{0});
  look(centroids);
}

const std::vector<NearestCentroids::Move>& NearestCentroids::follow(const Matrix& before, const Matrix& centroids) {
  const Vector moved = (1 + 1e-12) * (centroids - before).rowwise().norm();
  Index farthest = 0;
  Vector others = Vector::Constant(moved.size(), moved.maxCoeff(&farthest));  // the most that any but that one moved
  others[farthest] = 0;
  for (Index k = 0; k < moved.size(); ++k)
    if (k != farthest) others[farthest] = std::max(others[farthest], moved[k]);
  const Index* const label = labels_.data();
  for (Index i = 0; i < upper_.size(); ++i) {
    upper_[i] += moved[label[i]];
    lower_[i] -= others[label[i]];
  }
  unsure_.clear();
  for (Index i = 0; i < upper_.size(); ++i)
    if (!(upper_[i] < lower_[i])) unsure_.push_back(i);
  look(centroids);
  return moves_;
}

void NearestCentroids::give(Index point, Index centroid) {
  labels_[static_cast<std::size_t>(point)] = centroid;
  upper_[point] = std::numeric_limits<double>::infinity();
}

/// At the points that are unsure.
void NearestCentroids::look(const Matrix& centroids) {
  const Vector half_norms = 0.5 * centroids.rowwise().squaredNorm();
  Matrix near(points_in_cache, points_.cols()), scores(centroids.rows(), points_in_cache);
  Largest largest;
  moves_.clear();
  const auto count = static_cast<Index>(unsure_.size());
  for (Index first = 0; first < count; first += points_in_cache) {
    const Index width = std::min(points_in_cache, count - first);
    const Index* const point = unsure_.data() + first;
    if (point[width - 1] - point[0] == width - 1) {
      multiply(scores.leftCols(width), centroids, points_.middleRows(point[0], width).transpose());
    } else {
      for (Index i = 0; i < width; ++i) near.row(i) = points_.row(point[i]);
      multiply(scores.leftCols(width), centroids, near.topRows(width).transpose());
    }
    scores.leftCols(width).colwise() -= half_norms;
    largest.find(scores, static_cast<std::size_t>(width));
    for (Index i = 0; i < width; ++i) {
      const auto in_block = static_cast<std::size_t>(i);
      Index& label = labels_[static_cast<std::size_t>(point[i])];
      if (label != largest.nearest[in_block]) moves_.push_back({point[i], label});
      label = largest.nearest[in_block];
      upper_[point[i]] = std::sqrt(std::max(0.0, squares_[point[i]] - 2 * largest.best[in_block]) + slack_);
      lower_[point[i]] = std::sqrt(std::max(0.0, squares_[point[i]] - 2 * largest.second[in_block] - slack_));
    }
  }
}

}  // namespace headwave
