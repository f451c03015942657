#pragma once

#include <vector>

#include "../../core/numbers/matrix.h"

namespace headwave {

/// Which of some centroids each point is nearest to, the first of equals, kept up while centroids move.
///
/// As |x - c|^2 = |x|^2 - 2 (x . c - |c|^2 / 2), the nearest has the largest bracket: one product for all. A point is looked at
/// again only where it may have another centroid nearest: the distance to its own is at most
///
///     u + sum of what that centroid moved,   and to any other at least   l - sum of the largest moves of the others   (1)
///
/// with u and l what the two distances were when it was last looked at, both made wider by what rounding may have done to them.
///
/// Source: Hamerly 2010, doi:10.1137/1.9781611972801.12.
class NearestCentroids {
 public:
  /// A point that has another centroid now.
  struct Move {
    Index point, from;
  };

  /// @param points  (n, d)  one point per row; outlives this
  explicit NearestCentroids(const Matrix& points);

  /// Looks at every point.
  /// @param centroids  (k, d)  k >= 1
  void find(const Matrix& centroids);
  /// Looks at the points of which (1) does not say that they stay.
  /// @param before     (k, d)  where the centroids were when this, or find(), was last called
  /// @param centroids  (k, d)  where they are
  /// @returns the points whose labels changed, in order; valid until the next call
  const std::vector<Move>& follow(const Matrix& before, const Matrix& centroids);
  /// Says that a point is another centroid's, whichever is nearest.
  void give(Index point, Index centroid);

  [[nodiscard]] const std::vector<Index>& labels() const { return labels_; }
  [[nodiscard]] std::vector<Index> taken() { return std::move(labels_); }

 private:
  void look(const Matrix& centroids);

  const Matrix& points_;
  Vector squares_;  ///< (n)  |x|^2
  double slack_;    ///< what rounding may have done to the square of a distance
  std::vector<Index> labels_;
  Vector upper_, lower_;  ///< (n)  (1)
  std::vector<Index> unsure_;
  std::vector<Move> moves_;
};

}  // namespace headwave
