#pragma once

#include "matrix.h"

namespace headwave {

/// Sums of x over its first n entries, n = 0 .. T: (T + 1).
Vector prefix_sums(Eigen::Ref<const Vector> x);

/// Sums over the pairs (i, i+t) of q[i] and of k[i+t], t = -(T-1) .. T-1: (2 T - 1) each.
struct PairSums {
  Vector query, key;
  PairSums(Eigen::Ref<const Vector> q, Eigen::Ref<const Vector> k);
};

}  // namespace headwave
