#pragma once

#include <span>

#include "../../core/numbers/matrix.h"
#include "../../core/numbers/random.h"

namespace headwave {

/// Centroids from which k-means may start: points far from one another, drawn by greedy k-means++.
///
/// The first is any point. Each further one is drawn with probability proportional to its squared distance to the
/// nearest so far, 2 + floor(log k) times, and the draw that lowers the sum of these distances most is kept. Equal
/// points are drawn twice only where fewer than k differ.
///
/// A draw c cannot be nearer to a point x than x's nearest centroid m where |x - m| <= |c - m| / 2: distances of such points to c
/// are not computed. (Elkan 2003, "Using the triangle inequality to accelerate k-means", ICML.)
///
/// Source: Arthur and Vassilvitskii 2007, "k-means++: the advantages of careful seeding", SODA.
/// @param points    (n, d)  one per row
/// @param clusters  k >= 1
/// @param random    drawn from, and thereby moved on
/// @param times     (n)     how often each point is there; empty: once
/// @returns (k, d)  one centroid per row
/// @throws ShapeError if there are no points or no clusters, or `times` has another number
Matrix k_means_start(MatrixView points, Index clusters, Random& random, std::span<const Index> times = {});

}  // namespace headwave
