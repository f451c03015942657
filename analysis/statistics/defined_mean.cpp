#include "defined_mean.h"

namespace headwave {

void DefinedMean::add(const Matrix& values) {
  const auto defined = values.array() == values.array();  // NaN is not
  sum_.array() += defined.select(values.array(), 0.0);
  count_.array() += defined.cast<double>();
}

void DefinedMean::join(const DefinedMean& other) {
  sum_ += other.sum_;
  count_ += other.count_;
}

}  // namespace headwave
