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

/// A product by rows is Eigen's by columns with its factors swapped and transposed: b^T is the left factor of its kernel, whose rows
/// it wants in panels, block after block; a^T the right one. What Eigen's own product puts in order anew each time is put so once.
template <class Scalar>
struct Packed {
  using Traits = Eigen::internal::gebp_traits<Scalar, Scalar>;
  using Out = Eigen::internal::blas_data_mapper<Scalar, std::ptrdiff_t, Eigen::ColMajor, Eigen::Unaligned, 1>;
  template <int order>
  using In = Eigen::internal::const_blas_data_mapper<Scalar, std::ptrdiff_t, order>;

  static constexpr std::ptrdiff_t panel = Traits::mr;
  /// Rows and columns of b at a time: packed they are 200 or 400 KB, which stay in the second cache. (Measured: attend_tokens.)
  static constexpr std::ptrdiff_t depth = 1024 / sizeof(Scalar), width = 8 * panel;

  template <int order>
  static void pack_of(const Operand<Scalar>& b, Scalar* packed) {
    Eigen::internal::gemm_pack_lhs<Scalar, std::ptrdiff_t, In<order>, Traits::mr, Traits::LhsProgress,
                                   typename Traits::LhsPacket4Packing, order>
        pack_panels;
    const In<order> from(b.data, b.stride);
    for (std::ptrdiff_t k = 0; k < b.rows; k += depth) {
      const std::ptrdiff_t deep = std::min(depth, b.rows - k);
      for (std::ptrdiff_t i = 0; i < b.cols; i += width)
        pack_panels(packed + k * b.cols + i * deep, from.getSubMapper(i, k), deep, std::min(width, b.cols - i));
    }
  }

  static void pack(const Operand<Scalar>& b, Scalar* packed) {
    if (b.by_rows)
      pack_of<Eigen::ColMajor>(b, packed);
    else
      pack_of<Eigen::RowMajor>(b, packed);
  }

  template <int order>
  static void multiply_of(const Operand<Scalar>& a, const PackedMatrix<Scalar>& b, std::ptrdiff_t cols, Scalar* out,
                          std::ptrdiff_t stride) {
    Eigen::internal::gemm_pack_rhs<Scalar, std::ptrdiff_t, In<order>, Traits::nr, order> pack_other;
    Eigen::internal::gebp_kernel<Scalar, Scalar, std::ptrdiff_t, Out, Traits::mr, Traits::nr, false, false> add_product;
    const In<order> from(a.data, a.stride);
    const Out to(out, stride);
    Eigen::Array<Scalar, Eigen::Dynamic, 1> other(std::min(depth, a.cols) * a.rows);
    for (std::ptrdiff_t k = 0; k < a.cols; k += depth) {
      const std::ptrdiff_t there = std::min(depth, b.rows - k), deep = std::min(there, a.cols - k);
      pack_other(other.data(), from.getSubMapper(k, 0), deep, a.rows);
      for (std::ptrdiff_t i = 0; i < cols; i += width)
        add_product(to.getSubMapper(i, 0), b.data + k * b.cols + i * there, other.data(), std::min(width, cols - i),
                    deep, a.rows, Scalar(1), there, deep, 0, 0);
    }
  }

  static void multiply(const Operand<Scalar>& a, const PackedMatrix<Scalar>& b, std::ptrdiff_t cols, Scalar* out,
                       std::ptrdiff_t stride) {
    for (std::ptrdiff_t i = 0; i < a.rows; ++i) std::fill_n(out + i * stride, cols, Scalar(0));
    if (a.rows == 0 || cols == 0) return;
    if (a.by_rows)
      multiply_of<Eigen::ColMajor>(a, b, cols, out, stride);
    else
      multiply_of<Eigen::RowMajor>(a, b, cols, out, stride);
  }
};

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
    const Array last = change(filled(x + i, size - i, rest));
    std::copy(last.data(), last.data() + (size - i), x + i);
  }

  template <class Visit>
  static void visit(const Scalar* x, std::ptrdiff_t size, Scalar rest, const Visit& visit) {
    std::ptrdiff_t i = 0;
    for (; i + count <= size; i += count) visit(Array(Eigen::Map<const Array, Eigen::Unaligned>(x + i)));
    if (i < size) visit(filled(x + i, size - i, rest));
  }

 private:
  /// Fewer entries than lanes, among others.
  static Array filled(const Scalar* x, std::ptrdiff_t size, Scalar rest) {
    Array lanes = Array::Constant(rest);
    lanes.head(size) = Eigen::Map<const Eigen::Array<Scalar, Eigen::Dynamic, 1>>(x, size);
    return lanes;
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
double sum_x_log_x_of(const Scalar* x, std::ptrdiff_t count) {
  using Array = typename Lanes<Scalar>::Array;
  Eigen::Array<double, Lanes<Scalar>::count, 1> sums;
  sums.setZero();
  Lanes<Scalar>::visit(x, count, Scalar(0), [&](const Array& values) {
    // Not in one expression: a cast within would keep the logarithm from being vectorised.
    const Array terms = values * values.max(std::numeric_limits<Scalar>::min()).log();
    sums += terms.template cast<double>();
  });
  return sums.sum();
}

/// Products of two rows with four, of so many entries that all rows stay in the first cache meanwhile.
template <class Scalar>
class RowProducts {
 public:
  static void add(const Operand<Scalar>& x, Scalar* out) {
    for (std::ptrdiff_t k = 0; k < x.cols; k += deep)
      for (std::ptrdiff_t i = 0; i < x.rows; i += left)
        for (std::ptrdiff_t j = i / right * right; j < x.rows; j += right)
          add_block(x, i, j, k, std::min(deep, x.cols - k), out);
    for (std::ptrdiff_t i = 0; i < x.rows; ++i)
      for (std::ptrdiff_t j = 0; j < i; ++j) out[i * x.rows + j] = out[j * x.rows + i];
  }

 private:
  using Vector = typename Eigen::internal::packet_traits<Scalar>::type;
  static constexpr std::ptrdiff_t lanes = Eigen::internal::unpacket_traits<Vector>::size;
  static constexpr std::ptrdiff_t left = 2, right = 4, deep = 256;

  static void add_block(const Operand<Scalar>& x, std::ptrdiff_t i, std::ptrdiff_t j, std::ptrdiff_t k,
                        std::ptrdiff_t size, Scalar* out) {
    using Eigen::internal::ploadu, Eigen::internal::pmadd;
    const Scalar *of[left], *with[right];  // beyond the last row: the last once more
    for (std::ptrdiff_t a = 0; a < left; ++a) of[a] = x.data + std::min(i + a, x.rows - 1) * x.stride + k;
    for (std::ptrdiff_t b = 0; b < right; ++b) with[b] = x.data + std::min(j + b, x.rows - 1) * x.stride + k;
    Vector sums[left][right];
    for (auto& row : sums)
      for (Vector& sum : row) sum = Eigen::internal::pset1<Vector>(Scalar(0));
    std::ptrdiff_t at = 0;
    for (; at + lanes <= size; at += lanes) {
      const Vector first = ploadu<Vector>(of[0] + at), second = ploadu<Vector>(of[1] + at);
      for (std::ptrdiff_t b = 0; b < right; ++b) {
        const Vector other = ploadu<Vector>(with[b] + at);
        sums[0][b] = pmadd(first, other, sums[0][b]);
        sums[1][b] = pmadd(second, other, sums[1][b]);
      }
    }
    for (std::ptrdiff_t a = 0; a < left && i + a < x.rows; ++a)
      for (std::ptrdiff_t b = 0; b < right && j + b < x.rows; ++b) {
        if (j + b < i + a) continue;
        Scalar sum = Eigen::internal::predux(sums[a][b]);
        for (std::ptrdiff_t rest = at; rest < size; ++rest) sum += of[a][rest] * with[b][rest];
        out[(i + a) * x.rows + j + b] += sum;
      }
  }
};

template <class Scalar>
constexpr Kernels<Scalar> all_kernels{&multiply_operands<Scalar>, &Packed<Scalar>::pack, &Packed<Scalar>::multiply,
                                      Packed<Scalar>::panel,      &softmax_of<Scalar>,   &sum_x_log_x_of<Scalar>,
                                      &RowProducts<Scalar>::add};

}  // namespace

}  // namespace vector_kernels

}  // namespace headwave
