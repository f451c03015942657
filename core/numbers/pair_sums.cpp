#include "pair_sums.h"

#include <algorithm>

namespace headwave {

Vector prefix_sums(Eigen::Ref<const Vector> x) {
  Vector sums = Vector::Zero(x.size() + 1);
  for (Index i = 0; i < x.size(); ++i) sums[i + 1] = sums[i] + x[i];
  return sums;
}

PairSums::PairSums(Eigen::Ref<const Vector> q, Eigen::Ref<const Vector> k, Index near)
    : query(2 * near + 1), key(2 * near + 1) {
  const Index length = q.size();
  const Vector before_q = prefix_sums(q), before_k = prefix_sums(k);
  for (Index t = -near; t <= near; ++t) {
    const Index first = std::max<Index>(0, -t), end = std::min(length, length - t);  // of i
    query[t + near] = before_q[end] - before_q[first];
    key[t + near] = before_k[end + t] - before_k[first + t];
  }
}

}  // namespace headwave
