#pragma once

#include <algorithm>
#include <limits>
#include <map>
#include <vector>

#include "../../core/numbers/matrix.h"

/// Adjusted Rand index by looking at every pair of items.
inline double direct_adjusted_rand(const std::vector<headwave::Index>& a, const std::vector<headwave::Index>& b) {
  double both = 0.0, only_a = 0.0, only_b = 0.0, neither = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      const bool in_a = a[i] == a[j];
      const bool in_b = b[i] == b[j];
      (in_a ? (in_b ? both : only_a) : (in_b ? only_b : neither)) += 1.0;
    }
  if (only_a == 0.0 && only_b == 0.0) return 1.0;
  return 2.0 * (both * neither - only_a * only_b) /
         ((both + only_a) * (only_a + neither) + (both + only_b) * (only_b + neither));
}

/// Mean silhouette, point by point and group by group.
inline double direct_silhouette(const headwave::Matrix& points, const std::vector<headwave::Index>& labels) {
  double sum = 0.0;
  for (headwave::Index i = 0; i < points.rows(); ++i) {
    std::map<headwave::Index, std::pair<double, double>> groups;  // summed distance, number of others
    for (headwave::Index j = 0; j < points.rows(); ++j) {
      if (j == i) continue;
      auto& [distance, count] = groups[labels[static_cast<std::size_t>(j)]];
      distance += (points.row(i) - points.row(j)).norm();
      count += 1.0;
    }
    const headwave::Index own = labels[static_cast<std::size_t>(i)];
    if (groups.count(own) == 0) continue;
    const double within = groups[own].first / groups[own].second;
    double next = std::numeric_limits<double>::infinity();
    for (const auto& [label, group] : groups)
      if (label != own) next = std::min(next, group.first / group.second);
    if (std::max(within, next) > 0.0) sum += (next - within) / std::max(within, next);
  }
  return sum / static_cast<double>(points.rows());
}

/// Least inertia of all ways to put the points into k groups: k^n labelings, for a few points only.
inline double least_inertia(const headwave::Matrix& points, headwave::Index clusters) {
  using headwave::Index;
  std::vector<Index> labels(static_cast<std::size_t>(points.rows()), 0);
  double least = std::numeric_limits<double>::infinity();
  for (;;) {
    headwave::Matrix sums = headwave::Matrix::Zero(clusters, points.cols());
    headwave::Vector counts = headwave::Vector::Zero(clusters);
    for (Index i = 0; i < points.rows(); ++i) {
      sums.row(labels[static_cast<std::size_t>(i)]) += points.row(i);
      counts(labels[static_cast<std::size_t>(i)]) += 1.0;
    }
    double inertia = 0.0;
    for (Index i = 0; i < points.rows(); ++i) {
      const Index label = labels[static_cast<std::size_t>(i)];
      inertia += (points.row(i) - sums.row(label) / counts(label)).squaredNorm();
    }
    least = std::min(least, inertia);
    std::size_t digit = 0;
    while (digit < labels.size() && ++labels[digit] == clusters) labels[digit++] = 0;
    if (digit == labels.size()) return least;
  }
}
