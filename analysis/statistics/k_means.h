#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "../../core/numbers/matrix.h"

namespace headwave {

struct KMeansOptions {
  Index clusters = 6;          ///< k
  Index restarts = 50;         ///< independent starts, of which the best is kept; fewer are faster and miss more often
  Index max_iterations = 300;  ///< of one start
  double tolerance = 1e-4;     ///< a start ends when |centroids moved|^2 <= tolerance * mean variance of the columns
  std::uint64_t seed = 1;
  int threads = 1;  ///< over restarts; does not change results
};

/// Points in k groups around their means.
struct KMeans {
  Matrix centroids;           ///< (k, d)  means of the groups, in the order in which they were found
  std::vector<Index> labels;  ///< (n)     the nearest centroid of each point
  double inertia = 0.0;       ///< sum over points of the squared distance to their centroid
  Index iterations = 0;       ///< of the start that was kept
  bool converged = false;     ///< whether that start came to rest: no label would change any more
};

/// Groups of points around their means: the best of many runs of Lloyd's algorithm.
///
///     inertia = sum_i |x_i - c_{l(i)}|^2,   l(i) = argmin_k |x_i - c_k|,   c_k = mean of {x_i: l(i) = k}     (1)
///
/// Starts are drawn by greedy k-means++: the first centroid is any point, each further one is drawn with probability
/// proportional to its squared distance to the nearest so far, 2 + floor(log k) times, and the draw that lowers the
/// inertia most is kept. The best start, the first of equals, is then iterated until no label changes, whatever the
/// tolerance. A group that runs empty gets the point farthest from its own centroid. (1) is a local minimum; that no
/// better one exists is not shown.
///
/// Source: Lloyd 1982, doi:10.1109/TIT.1982.1056489; Arthur and Vassilvitskii 2007, SODA (k-means++).
/// @param points  (n, d)  one finite point per row, of which k or more differ
/// @param times   (n)     how often each point is there, in every sum; empty: once
KMeans k_means(MatrixView points, const KMeansOptions& options = {}, std::span<const Index> times = {});

/// The nearest centroid of each point; ties go to the first.
/// @param points     (n, d)
/// @param centroids  (k, d)  k >= 1
/// @returns (n)  numbers 0 .. k - 1
std::vector<Index> nearest_centroids(MatrixView points, MatrixView centroids);

/// How many different rows there are, counted up to `at_most`.
Index distinct_rows(MatrixView points, Index at_most);

/// How far two labelings of the same items agree, beyond what chance would give: the adjusted Rand index.
///
///     ARI = (sum_ij C(n_ij, 2) - E) / ((A + B) / 2 - E),   E = A B / C(n, 2)                  (1)
///
/// with n_ij items labelled i by one and j by the other, A = sum_i C(n_i., 2), B = sum_j C(n_.j, 2). 1: the
/// same up to the names of labels; 0: as expected by chance; negative: less. Where both put all items
/// together or all apart it is 1.
///
/// Source: Hubert and Arabie 1985, doi:10.1007/BF01908075.
/// @param a  (n)  any numbers as labels
/// @param b  (n)  n >= 1
double adjusted_rand(std::span<const Index> a, std::span<const Index> b);

struct SilhouetteOptions {
  Index max_points = 4000;  ///< most points, at least 2; of more, a random choice. The time grows with its square
  std::uint64_t seed = 1;   ///< of the choice
  int threads = 1;          ///< over points; does not change results
};

/// Mean silhouette: how much nearer points are to their own group than to the next.
///
///     s_i = (b_i - a_i) / max(a_i, b_i),   silhouette = mean_i s_i                            (2)
///
/// a_i = mean distance to the other points of i's group, b_i = the smallest mean distance to another group's
/// points; s_i = 0 where i is alone in its group. Near 1: compact and apart; near 0: no groups; negative:
/// wrongly labelled. Points beyond `max_points` neither get an s_i nor count in a_i and b_i.
///
/// Source: Rousseeuw 1987, doi:10.1016/0377-0427(87)90125-7.
/// @param points  (n, d)
/// @param labels  (n)  numbers >= 0 and < n
/// @returns in [-1, 1]; NaN where the points looked at have fewer than two labels
double silhouette(MatrixView points, const std::vector<Index>& labels, const SilhouetteOptions& options = {});

}  // namespace headwave
