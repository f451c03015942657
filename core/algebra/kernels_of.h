#pragma once

// The kernels themselves, compiled once for every vector width: kernels.cpp and kernels_avx512.cpp include this, and nothing else
// does. All of it has internal linkage, and what it takes from Eigen the second of them renames: of two templates of one name, for
// two widths, the linker would keep one.

#include <algorithm>
#include <limits>

#include <Eigen/Core>

#include "kernels.h"

namespace headwave {

namespace vector_kernels {

namespace {

template <class Scalar, int order>
using Dynamic = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic, order>;

template <class Scalar, int order>
using View = Eigen::Map<const Dynamic<Scalar, order>, Eigen::Unaligned, Eigen::OuterStride<>>;

template <class Scalar, int order>
View<Scalar, order> view_of(const Operand<Scalar>& of) {
  return {of.data, of.rows, of.cols, Eigen::OuterStride<>(of.stride)};
}

/// Of few numbers. (What Eigen does with those depends on where the result lies in memory.)
template <class Scalar>
void add_small_product(const Operand<Scalar>& a, const Operand<Scalar>& b, Scalar* out, std::ptrdiff_t stride) {
  const auto at = [](const Operand<Scalar>& of, std::ptrdiff_t row, std::ptrdiff_t col) {
    return of.data[of.by_rows ? row * of.stride + col : col * of.stride + row];
  };
  for (std::ptrdiff_t i = 0; i < a.rows; ++i)
    for (std::ptrdiff_t j = 0; j < b.cols; ++j) {
      Scalar sum = 0;
      for (std::ptrdiff_t k = 0; k < a.cols; ++k) sum += at(a, i, k) * at(b, k, j);
      out[i * stride + j] += sum;
    }
}

template <class Scalar, int order, class Out>
void add_product(Out& out, const View<Scalar, order>& a, const Operand<Scalar>& b) {
  if (b.by_rows)
    out.noalias() += a * view_of<Scalar, Eigen::RowMajor>(b);
  else
    out.noalias() += a * view_of<Scalar, Eigen::ColMajor>(b);
}

template <class Scalar>
void multiply_operands(const Operand<Scalar>& a, const Operand<Scalar>& b, Scalar* out, std::ptrdiff_t stride,
                       bool add) {
  Eigen::Map<Dynamic<Scalar, Eigen::RowMajor>, Eigen::Unaligned, Eigen::OuterStride<>> result(
      out, a.rows, b.cols, Eigen::OuterStride<>(stride));
  if (!add) result.setZero();
  if (a.rows + a.cols + b.cols < EIGEN_GEMM_TO_COEFFBASED_THRESHOLD)
    add_small_product(a, b, out, stride);
  else if (a.by_rows)
    add_product(result, view_of<Scalar, Eigen::RowMajor>(a), b);
  else
    add_product(result, view_of<Scalar, Eigen::ColMajor>(a), b);
}

/// Sixteen entries at a time, and the last of them among others that change nothing: what comes of an entry, and in which order
/// it is added up, must not depend on where in memory it lies.
template <class Scalar>
class Lanes {
 public:
  static constexpr std::ptrdiff_t count = 16;
  using Array = Eigen::Array<Scalar, count, 1>;

  template <class Change>
  static void change(Scalar* x, std::ptrdiff_t size, Scalar rest, const Change& change) {
    std::ptrdiff_t i = 0;
    for (; i + count <= size; i += count) {
      Eigen::Map<Array, Eigen::Unaligned> here(x + i);
      here = change(Array(here));
    }
    if (i == size) return;
    Array last = Array::Constant(rest);
    last.head(size - i) = Eigen::Map<Eigen::Array<Scalar, Eigen::Dynamic, 1>>(x + i, size - i);
    last = change(last);
    std::copy(last.data(), last.data() + (size - i), x + i);
  }
};

template <class Scalar>
void softmax_of(Scalar* x, std::ptrdiff_t count) {
  using Array = typename Lanes<Scalar>::Array;
  constexpr Scalar none = -std::numeric_limits<Scalar>::infinity();
  if (count == 0) return;
  Eigen::Map<Eigen::Array<Scalar, Eigen::Dynamic, 1>> row(x, count);
  const Scalar top = row.maxCoeff();
  if (top == none) {
    row.setZero();
    return;
  }
  Array sums = Array::Zero();
  Lanes<Scalar>::change(x, count, none, [&](const Array& scores) {
    Array weights = (scores - top).exp();
    sums += weights;
    return weights;
  });
  row /= sums.sum();
}

template <class Scalar>
constexpr Kernels<Scalar> all_kernels{&multiply_operands<Scalar>, &softmax_of<Scalar>};

}  // namespace

}  // namespace vector_kernels

}  // namespace headwave
