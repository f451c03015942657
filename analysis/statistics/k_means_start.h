#pragma once

#include "../../core/numbers/matrix.h"
#include "../../core/numbers/random.h"

namespace headwave {

constexpr Index points_in_cache = 512;  ///< so many points' distances are worked on together

/// Centroids from which k-means may start: points far from one another, drawn by greedy k-means++.
///
/// The first is any point. Each further one is drawn with probability proportional to its squared distance to the
/// nearest so far, 2 + floor(log k) times, and the draw that lowers the sum of these distances most is kept. Equal
/// points are drawn twice only where fewer than k differ.
///
/// Source: Arthur and Vassilvitskii 2007, "k-means++: the advantages of careful seeding", SODA.
/// @param columns   (d, n)  one point per column: distances to all points are then loops over memory
/// @param clusters  k >= 1
/// @param random    drawn from, and thereby moved on
/// @returns (k, d)  one centroid per row
/// @throws ShapeError if there are no points or no clusters
Matrix k_means_start(MatrixView columns, Index clusters, Random& random);

}  // namespace headwave
