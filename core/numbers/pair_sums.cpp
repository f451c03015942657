#include "pair_sums.h"

#include <algorithm>

namespace headwave {

Vector prefix_sums(Eigen::Ref<const Vector> x) {
  Vector sums = Vector::Zero(x.size() + 1);
  for (Index i = 0; i < x.size(); ++i) sums[i + 1] = sums[i] + x[i];
  return sums;
}

PairSums::PairSums(Eigen::Ref<const Vector> q, Eigen::Ref<const Vector> k) {
  const Index length = q.size();
  const Vector before_q = prefix_sums(q), before_k = prefix_sums(k);
  query.resize(2 * length - 1);
  key.resize(2 * length - 1);
  for (Index t = 1 - length; t < length; ++t) {
    const Index first = std::max<Index>(0, -t), end = std::min(length, length - t);  // of i
    query[t + length - 1] = before_q[end] - before_q[first];
    key[t + length - 1] = before_k[end + t] - before_k[first + t];
  }
}

}  // namespace headwave
