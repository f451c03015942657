#pragma once

#include "../../core/numbers/matrix.h"

namespace headwave {

/// Means of matrices over documents, entry by entry, each over the documents in which it is defined.
class DefinedMean {
 public:
  explicit DefinedMean(Index rows = 0, Index cols = 0)
      : sum_(Matrix::Zero(rows, cols)), count_(Matrix::Zero(rows, cols)) {}

  /// @param values  of the same shape; NaN: undefined here
  void add(const Matrix& values);
  /// Adds what another mean, of the same shape, is of.
  void join(const DefinedMean& other);
  /// NaN: defined in no document.
  [[nodiscard]] Matrix value() const { return sum_.cwiseQuotient(count_); }
  [[nodiscard]] Index rows() const { return sum_.rows(); }
  [[nodiscard]] Index cols() const { return sum_.cols(); }
  template <class Self>
  static auto members(Self& self) {
    return std::tie(self.sum_, self.count_);
  }

 private:
  Matrix sum_, count_;
};

}  // namespace headwave
