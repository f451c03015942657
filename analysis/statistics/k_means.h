#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "../../core/numbers/matrix.h"

namespace headwave {

struct KMeansOptions {
  Index clusters = 6;          ///< k
  Index restarts = 50;         ///< number of starts, of which the best is kept; more starts find a better one
  Index max_iterations = 300;  ///< largest number of iterations of one start
  double tolerance = 1e-4;     ///< a start ends if |change of centroids|^2 <= tolerance * mean variance of the columns
  std::uint64_t seed = 1;
  int threads = 1;  ///< threads over restarts; does not change results
};

/// Points in k groups around their means.
struct KMeans {
  Matrix centroids;           ///< (k, d)  means of the groups
  std::vector<Index> labels;  ///< (n)     the nearest centroid of each point
  double inertia = 0.0;       ///< sum over points of the squared distance to their centroid
  Index iterations = 0;       ///< iterations of the start that was kept, its final refinement included
  bool converged = false;     ///< whether the refinement ended because no label changed
};

/// Clusters points around k means by Lloyd's algorithm, from many random starts.
///
///     inertia = sum_i |x_i - c_{l(i)}|^2,   l(i) = argmin_k |x_i - c_k|,   c_k = mean of {x_i: l(i) = k}     (1)
///
/// Starts are drawn by greedy k-means++. The first centroid is a random point. For each further centroid, 2 +
/// floor(log k) points are drawn with probability proportional to the squared distance from the nearest
/// centroid so far, and the point that lowers the inertia most is kept. The best start, or the first of
/// equally good starts, is then refined until no label changes, whatever the tolerance. An empty group gets
/// the point farthest from its own centroid. (1) is a local minimum, not necessarily the best one.
///
/// Source: Lloyd 1982, doi:10.1109/TIT.1982.1056489; Arthur and Vassilvitskii 2007, SODA (k-means++).
/// @param points  (n, d)  one finite point per row, at least k of them different
/// @param times   (n)     how often each point counts in every sum; empty: every point counts once
KMeans k_means(MatrixView points, const KMeansOptions& options = {}, std::span<const Index> times = {});

/// The nearest centroid of each point; ties go to the first.
/// @param points     (n, d)
/// @param centroids  (k, d)  k >= 1
/// @returns (n)  numbers 0 .. k - 1
std::vector<Index> nearest_centroids(MatrixView points, MatrixView centroids);

/// Number of different rows. Counting stops at `at_most`.
Index distinct_rows(MatrixView points, Index at_most);

/// Adjusted Rand index: how far two labelings of the same items agree beyond chance.
///
///     ARI = (sum_ij C(n_ij, 2) - E) / ((A + B) / 2 - E),   E = A B / C(n, 2)                  (1)
///
/// n_ij items have label i in `a` and label j in `b`; A = sum_i C(n_i., 2) and B = sum_j C(n_.j, 2). The
/// index is 1 if both labelings form the same groups, 0 if they agree as much as expected by chance, and
/// negative if they agree less. It is also 1 if both form one group of all items, or a group of every item.
///
/// Source: Hubert and Arabie 1985, doi:10.1007/BF01908075.
/// @param a  (n)  any numbers as labels
/// @param b  (n)  n >= 1
double adjusted_rand(std::span<const Index> a, std::span<const Index> b);

struct SilhouetteOptions {
  Index max_points = 4000;  ///< at least 2; of more points, this many are drawn at random; time grows with its square
  std::uint64_t seed = 1;   ///< seed of this choice
  int threads = 1;          ///< threads over points; does not change results
};

/// Mean silhouette: how much nearer points are to their own group than to the nearest other group.
///
///     s_i = (b_i - a_i) / max(a_i, b_i),   silhouette = mean_i s_i                            (2)
///
/// a_i is the mean distance to the other points of i's group, and b_i the smallest mean distance to the
/// points of another group. s_i = 0 if i is alone in its group. A silhouette near 1 means compact, separate
/// groups, one near 0 means no groups, and a negative one means wrong labels. Points that are not among the
/// `max_points` chosen ones get no s_i and do not count in a_i and b_i.
///
/// Source: Rousseeuw 1987, doi:10.1016/0377-0427(87)90125-7.
/// @param points  (n, d)
/// @param labels  (n)  numbers >= 0 and < n
/// @returns in [-1, 1]; NaN if the points used have fewer than two labels
double silhouette(MatrixView points, const std::vector<Index>& labels, const SilhouetteOptions& options = {});

}  // namespace headwave
