#pragma once

#include "matrix.h"

namespace headwave {

/// Sums of the first n entries of x, n = 0 .. T: (T + 1).
Vector prefix_sums(Eigen::Ref<const Vector> x);

/// Sums over the pairs (i, i+t) of q[i] and of k[i+t], t = -near .. near: (2 near + 1) each.
struct PairSums {
  Vector query, key;
  /// @param near  below T
  PairSums(Eigen::Ref<const Vector> q, Eigen::Ref<const Vector> k, Index near);
};

}  // namespace headwave
