#pragma once

#include <limits>
#include <new>
#include <type_traits>

#include <Eigen/Core>

#include "../errors/error.h"

namespace headwave {

using Index = Eigen::Index;

template <class Scalar>
using MatrixOf = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class Scalar>
using VectorOf = Eigen::Matrix<Scalar, Eigen::Dynamic, 1>;

using Matrix = MatrixOf<double>;   ///< analyses: double, row-major
using Vector = VectorOf<double>;   ///< a column of doubles
using Matrix32 = MatrixOf<float>;  ///< models: float32, row-major
using Vector32 = VectorOf<float>;

/// NaN: marks an undefined value. The Field that holds it says why.
constexpr double not_defined = std::numeric_limits<double>::quiet_NaN();

/// Whether every entry is finite. A vectorised form of Eigen's allFinite().
template <class Derived>
bool are_finite(const Eigen::DenseBase<Derived>& values) {
  using Scalar = typename Derived::Scalar;
  return (values.derived().array() * Scalar(0)).sum() == Scalar(0);  // 0 times infinity or NaN is NaN
}

/// A read-only view of a row-major matrix that is owned elsewhere. Rows may have a stride, but the entries of
/// a row are contiguous. Eigen's own Ref silently copies a column-major matrix; this view does not compile
/// with such a matrix. Assignment rebinds a view and copies nothing.
template <class Scalar>
class MatrixViewOf : public Eigen::Map<const MatrixOf<Scalar>, Eigen::Unaligned, Eigen::OuterStride<>> {
 public:
  using Base = Eigen::Map<const MatrixOf<Scalar>, Eigen::Unaligned, Eigen::OuterStride<>>;

  MatrixViewOf() : Base(nullptr, 0, 0, Eigen::OuterStride<>(0)) {}
  MatrixViewOf(const Scalar* data, Index rows, Index cols) : MatrixViewOf(data, rows, cols, cols) {}
  MatrixViewOf(const Scalar* data, Index rows, Index cols, Index stride)
      : Base(data, rows, cols, Eigen::OuterStride<>(stride)) {}

  /// A view of a row-major matrix, map or block.
  /// @throws ShapeError if the entries of a row are not contiguous (a block of every second column, for example)
  template <class Derived>
  requires(static_cast<bool>(Derived::Flags& Eigen::RowMajorBit) &&
           static_cast<bool>(Derived::Flags & Eigen::DirectAccessBit) &&
           std::is_same_v<typename Derived::Scalar, Scalar> && !std::is_same_v<Derived, MatrixViewOf>)
      MatrixViewOf(const Eigen::MatrixBase<Derived>& matrix)  // NOLINT: implicit, as a view should be
      : MatrixViewOf(matrix.derived().data(), matrix.rows(), matrix.cols(), matrix.derived().outerStride()) {
    if (matrix.derived().innerStride() != 1) throw ShapeError("MatrixView: the entries of a row must be side by side");
  }

  MatrixViewOf(const MatrixViewOf& other) = default;
  MatrixViewOf& operator=(const MatrixViewOf& other) {
    if (this != &other) new (this) MatrixViewOf(other);
    return *this;
  }
  ~MatrixViewOf() = default;

  [[nodiscard]] bool empty() const { return this->size() == 0; }
};

/// A read-only view of consecutive numbers that are owned elsewhere.
template <class Scalar>
class VectorViewOf : public Eigen::Map<const VectorOf<Scalar>> {
 public:
  using Base = Eigen::Map<const VectorOf<Scalar>>;

  VectorViewOf() : Base(nullptr, 0) {}
  VectorViewOf(const Scalar* data, Index size) : Base(data, size) {}
  VectorViewOf(const VectorOf<Scalar>& vector) : Base(vector.data(), vector.size()) {}  // NOLINT: implicit view

  VectorViewOf(const VectorViewOf& other) = default;
  VectorViewOf& operator=(const VectorViewOf& other) {
    if (this != &other) new (this) VectorViewOf(other);
    return *this;
  }
  ~VectorViewOf() = default;

  [[nodiscard]] bool empty() const { return this->size() == 0; }
};

using MatrixView = MatrixViewOf<double>;
using MatrixView32 = MatrixViewOf<float>;
using VectorView = VectorViewOf<double>;
using VectorView32 = VectorViewOf<float>;

}  // namespace headwave
