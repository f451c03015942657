#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "../../core/numbers/matrix.h"

namespace headwave {

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
