#pragma once

// The kernels, compiled once per vector width: only kernels_chosen.cpp, kernels_avx2.cpp and
// kernels_avx512.cpp include this header. Everything here has internal linkage, and the latter two rename
// Eigen's namespace, since the linker would keep only one of two templates of the same name. (One shared
// library per vector width would be a larger change: only products, softmax and sums over rows are hot.)

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include <Eigen/Core>
#include <unsupported/Eigen/SpecialFunctions>

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

template <class Scalar>
bool is_small(const Operand<Scalar>& a, const Operand<Scalar>& b) {
  return a.rows + a.cols + b.cols < EIGEN_GEMM_TO_COEFFBASED_THRESHOLD;
}

/// out += a b for small matrices. (The order of Eigen's own sums depends on the alignment of the result.)
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

/// out += a x, with entries of x `step` apart.
template <class Scalar>
void add_column(const Operand<Scalar>& a, const Scalar* x, std::ptrdiff_t step, Scalar* out, std::ptrdiff_t stride) {
  using Column = Eigen::Matrix<Scalar, Eigen::Dynamic, 1>;
  const Eigen::Map<const Column, Eigen::Unaligned, Eigen::InnerStride<>> column(x, a.cols, Eigen::InnerStride<>(step));
  Eigen::Map<Column, Eigen::Unaligned, Eigen::InnerStride<>> result(out, a.rows, Eigen::InnerStride<>(stride));
  if (a.by_rows)
    result.noalias() += view_of<Scalar, Eigen::RowMajor>(a) * column;
  else
    result.noalias() += view_of<Scalar, Eigen::ColMajor>(a) * column;
}

template <class Scalar>
void set_zero(Scalar* out, std::ptrdiff_t rows, std::ptrdiff_t cols, std::ptrdiff_t stride) {
  for (std::ptrdiff_t i = 0; i < rows; ++i) std::fill_n(out + i * stride, cols, Scalar(0));
}

/// Block sizes and packing. A row-major product is Eigen's column-major one with factors swapped and
/// transposed: b^T is the left factor of its kernel and is packed in panels, block by block, and a^T is the
/// right factor. Block sizes do not depend on the processor's caches, so sums have the same order whether or
/// not b is packed in advance.
template <class Scalar>
struct Blocks {
  using Traits = Eigen::internal::gebp_traits<Scalar, Scalar>;
  using Out = Eigen::internal::blas_data_mapper<Scalar, std::ptrdiff_t, Eigen::ColMajor, Eigen::Unaligned, 1>;
  template <int order>
  using In = Eigen::internal::const_blas_data_mapper<Scalar, std::ptrdiff_t, order>;
  using Room = Eigen::Array<Scalar, Eigen::Dynamic, 1>;

  static constexpr std::ptrdiff_t panel = Traits::mr;
  /// Rows of b per block: a panel has at most 36 KB and stays in the first-level cache while all rows of a
  /// are multiplied with it. (Measured: products_headwave, attend_tokens.)
  static constexpr std::ptrdiff_t depth =
      std::min<std::ptrdiff_t>(1024, 36864 / panel) / static_cast<std::ptrdiff_t>(sizeof(Scalar));
  /// Columns of b per block, which stay in the second-level cache, and rows of a per block.
  static constexpr std::ptrdiff_t width = 8 * panel, height = 2048;

  /// Entries of a row (one cache line) to prefetch before packing, since hardware prefetches fewer rows.
  static constexpr std::ptrdiff_t ahead = 64 / sizeof(Scalar);

  template <int order>
  static void pack_block(const Operand<Scalar>& b, std::ptrdiff_t k, std::ptrdiff_t i, std::ptrdiff_t deep,
                         std::ptrdiff_t wide, Scalar* packed) {
    Eigen::internal::gemm_pack_lhs<Scalar, std::ptrdiff_t, In<order>, Traits::mr, Traits::LhsProgress,
                                   typename Traits::LhsPacket4Packing, order>
        pack_panels;
    const In<order> from(b.data, b.stride);
    std::ptrdiff_t done = 0;
    if constexpr (order == Eigen::RowMajor) {
      for (; done + panel <= wide; done += panel)
        for (std::ptrdiff_t at = 0; at < deep; at += ahead) {
          const Scalar* const next = b.data + (i + done) * b.stride + k + at + ahead;
          for (std::ptrdiff_t j = 0; j < panel; ++j) __builtin_prefetch(next + j * b.stride);
          pack_panels(packed + done * deep + at * panel, from.getSubMapper(i + done, k + at),
                      std::min(ahead, deep - at), panel);
        }
    }
    if (done < wide) pack_panels(packed + done * deep, from.getSubMapper(i + done, k), deep, wide - done);
  }

  /// Packs the rows k .. k + deep of the columns i .. i + wide.
  static void pack_block(const Operand<Scalar>& b, std::ptrdiff_t k, std::ptrdiff_t i, std::ptrdiff_t deep,
                         std::ptrdiff_t wide, Scalar* packed) {
    if (b.by_rows)
      pack_block<Eigen::ColMajor>(b, k, i, deep, wide, packed);
    else
      pack_block<Eigen::RowMajor>(b, k, i, deep, wide, packed);
  }

  static void pack(const Operand<Scalar>& b, Scalar* packed) {
    for (std::ptrdiff_t k = 0; k < b.rows; k += depth) {
      const std::ptrdiff_t deep = std::min(depth, b.rows - k);
      for (std::ptrdiff_t i = 0; i < b.cols; i += width)
        pack_block(b, k, i, deep, std::min(width, b.cols - i), packed + k * b.cols + i * deep);
    }
  }

  /// @param block  (k, i, deep, wide) returns that block of b, packed, and the number of rows of its panels
  template <int order, class Block>
  static void add_of(const Operand<Scalar>& a, std::ptrdiff_t cols, Scalar* out, std::ptrdiff_t stride,
                     const Block& block) {
    Eigen::internal::gemm_pack_rhs<Scalar, std::ptrdiff_t, In<order>, Traits::nr, order> pack_other;
    Eigen::internal::gebp_kernel<Scalar, Scalar, std::ptrdiff_t, Out, Traits::mr, Traits::nr, false, false> add_product;
    const In<order> from(a.data, a.stride);
    const Out to(out, stride);
    Room other(std::min(depth, a.cols) * std::min(height, a.rows));
    for (std::ptrdiff_t j = 0; j < a.rows; j += height)
      for (std::ptrdiff_t k = 0; k < a.cols; k += depth) {
        const std::ptrdiff_t high = std::min(height, a.rows - j), deep = std::min(depth, a.cols - k);
        pack_other(other.data(), from.getSubMapper(k, j), deep, high);
        for (std::ptrdiff_t i = 0; i < cols; i += width) {
          const std::ptrdiff_t wide = std::min(width, cols - i);
          const auto [packed, rows] = block(k, i, deep, wide);
          add_product(to.getSubMapper(i, j), packed, other.data(), wide, deep, high, Scalar(1), rows, deep, 0, 0);
        }
      }
  }

  template <class Block>
  static void add(const Operand<Scalar>& a, std::ptrdiff_t cols, Scalar* out, std::ptrdiff_t stride,
                  const Block& block) {
    if (a.by_rows)
      add_of<Eigen::ColMajor>(a, cols, out, stride, block);
    else
      add_of<Eigen::RowMajor>(a, cols, out, stride, block);
  }
};

template <class Scalar>
void multiply_packed(const Operand<Scalar>& a, const PackedMatrix<Scalar>& b, std::ptrdiff_t cols, Scalar* out,
                     std::ptrdiff_t stride) {
  using Of = Blocks<Scalar>;
  set_zero(out, a.rows, cols, stride);
  Of::add(a, cols, out, stride,
          [&](std::ptrdiff_t k, std::ptrdiff_t i, std::ptrdiff_t /*deep*/, std::ptrdiff_t /*wide*/) {
            const std::ptrdiff_t rows = std::min(Of::depth, b.rows - k);
            return std::pair(b.data + k * b.cols + i * rows, rows);
          });
}

/// out += a b if blocking does not pay: for small matrices, or a vector.
template <class Scalar>
void add_few(const Operand<Scalar>& a, const Operand<Scalar>& b, Scalar* out, std::ptrdiff_t stride) {
  if (is_small(a, b))
    add_small_product(a, b, out, stride);
  else if (b.cols == 1)
    add_column(a, b.data, b.by_rows ? b.stride : 1, out, stride);
  else
    add_column({b.data, b.cols, b.rows, b.stride, !b.by_rows}, a.data, a.by_rows ? 1 : a.stride, out, 1);
}

template <class Scalar>
void multiply_operands(const Operand<Scalar>& a, const Operand<Scalar>& b, Scalar* out, std::ptrdiff_t stride,
                       bool add) {
  if (!add) set_zero(out, a.rows, b.cols, stride);
  if (is_small(a, b) || a.rows == 1 || b.cols == 1) return add_few(a, b, out, stride);
  using Of = Blocks<Scalar>;
  typename Of::Room room(std::min(Of::depth, b.rows) * std::min(Of::width, b.cols));
  Of::add(a, b.cols, out, stride, [&](std::ptrdiff_t k, std::ptrdiff_t i, std::ptrdiff_t deep, std::ptrdiff_t wide) {
    Of::pack_block(b, k, i, deep, wide, room.data());
    return std::pair(static_cast<const Scalar*>(room.data()), deep);
  });
}

/// Processes sixteen entries at a time and pads the last ones with neutral values, so that results and the
/// order of sums do not depend on the alignment of the data.
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

 private:
  /// Lanes that hold fewer entries, padded with `rest`.
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
void gelu_of(Scalar* x, std::ptrdiff_t count) {
  using Array = typename Lanes<Scalar>::Array;
  constexpr Scalar half = Scalar(0.5), one_over_root_two = Scalar(0.70710678118654752440);
  Lanes<Scalar>::change(x, count, Scalar(0), [&](const Array& values) {
    const Array distribution = half + half * (values * one_over_root_two).erf();
    return Array(values * distribution);
  });
}

/// Sums over entries in double, with one sum per lane, so that the order does not depend on the vector width.
template <class Scalar, class Term>
double sum_of(const Scalar* x, std::ptrdiff_t count, const Term& term) {
  constexpr std::ptrdiff_t lanes = Lanes<Scalar>::count;
  alignas(64) std::array<double, lanes> sums{};
  std::ptrdiff_t i = 0;
  for (; i + lanes <= count; i += lanes)
    for (std::ptrdiff_t lane = 0; lane < lanes; ++lane) sums[lane] += term(static_cast<double>(x[i + lane]));
  for (std::ptrdiff_t lane = 0; i + lane < count; ++lane) sums[lane] += term(static_cast<double>(x[i + lane]));
  return Eigen::Map<const Eigen::Array<double, lanes, 1>>(sums.data()).sum();
}

template <class Scalar>
void normalise_of(Scalar* __restrict x, std::ptrdiff_t count, bool about_mean, double eps,
                  const Scalar* __restrict scale, const Scalar* __restrict shift) {
  const auto size = static_cast<double>(count);
  const double mean = about_mean ? sum_of(x, count, [](double value) { return value; }) / size : 0.0;
  const double square = sum_of(x, count, [mean](double value) { return (value - mean) * (value - mean); }) / size;
  const double inverse = 1 / std::sqrt(square + eps);
  for (std::ptrdiff_t i = 0; i < count; ++i)
    x[i] = static_cast<Scalar>((static_cast<double>(x[i]) - mean) * inverse) * scale[i];
  for (std::ptrdiff_t i = 0; shift != nullptr && i < count; ++i) x[i] += shift[i];
}

/// Computes the terms of some entries, then sums them. Compilers would vectorise neither in a common loop.
template <class Scalar>
double sum_x_log_x_of(const Scalar* x, std::ptrdiff_t count) {
  constexpr std::ptrdiff_t lanes = Lanes<Scalar>::count, at_once = 32 * lanes;
  using Array = Eigen::Array<Scalar, Eigen::Dynamic, 1>;
  alignas(64) std::array<Scalar, at_once> terms;
  double sum = 0;
  for (std::ptrdiff_t i = 0; i < count; i += at_once) {
    // Whole vectors, the last one padded with zeros: see Lanes.
    const std::ptrdiff_t some = std::min(at_once, count - i), padded = (some + lanes - 1) / lanes * lanes;
    std::copy_n(x + i, some, terms.data());
    std::fill(terms.data() + some, terms.data() + padded, Scalar(0));
    Eigen::Map<Array, Eigen::Aligned64> values(terms.data(), padded);
    values *= values.max(std::numeric_limits<Scalar>::min()).log();
    sum += sum_of(terms.data(), padded, [](double term) { return term; });
  }
  return sum;
}

// Four rows are added to a sum while it is in a register. (Compilers do not vectorise a loop over the four.)

/// sums[j] += a[j] + b[j] + c[j] + d[j], one after the other.
template <class Scalar>
void add_four(const Scalar* a, const Scalar* b, const Scalar* c, const Scalar* d, std::ptrdiff_t count,
              double* __restrict sums) {
  for (std::ptrdiff_t j = 0; j < count; ++j)
    sums[j] = (((sums[j] + static_cast<double>(a[j])) + static_cast<double>(b[j])) + static_cast<double>(c[j])) +
              static_cast<double>(d[j]);
}

template <class Scalar>
void add_diagonals_of(const Operand<Scalar>& x, double* out) {
  const auto add_some = [&](std::ptrdiff_t row, std::ptrdiff_t first, std::ptrdiff_t end) {
    const Scalar* const from = x.data + row * x.stride;
    double* const sums = out + x.rows - 1 - row;
    for (std::ptrdiff_t j = first; j < end; ++j) sums[j] += static_cast<double>(from[j]);
  };
  std::ptrdiff_t i = 0;
  for (; i + 4 <= x.rows && x.cols >= 4; i += 4) {
    // The diagonals that all four rows share, and those at either end.
    for (std::ptrdiff_t r = 1; r < 4; ++r) add_some(i + r, 0, r);
    const Scalar* const from = x.data + i * x.stride;
    const std::ptrdiff_t next = x.stride + 1;
    add_four(from, from + next, from + 2 * next, from + 3 * next, x.cols - 3, out + x.rows - 1 - i);
    for (std::ptrdiff_t r = 0; r < 3; ++r) add_some(i + r, x.cols - 3 + r, x.cols);
  }
  for (; i < x.rows; ++i) add_some(i, 0, x.cols);
}

template <class Scalar>
void add_four_powers(const Scalar* x, std::ptrdiff_t stride, std::ptrdiff_t count, double* __restrict first,
                     double* __restrict second, double* __restrict third) {
  const Scalar *const x0 = x, *const x1 = x + stride, *const x2 = x + 2 * stride, *const x3 = x + 3 * stride;
  for (std::ptrdiff_t j = 0; j < count; ++j) {
    const auto a = static_cast<double>(x0[j]), b = static_cast<double>(x1[j]), c = static_cast<double>(x2[j]),
               d = static_cast<double>(x3[j]);
    first[j] = (((first[j] + a) + b) + c) + d;
    second[j] = (((second[j] + a * a) + b * b) + c * c) + d * d;
    third[j] = (((third[j] + a * a * a) + b * b * b) + c * c * c) + d * d * d;
  }
}

template <class Scalar>
void add_powers_of(const Operand<Scalar>& x, double* __restrict first, double* __restrict second,
                   double* __restrict third) {
  std::ptrdiff_t i = 0;
  for (; i + 4 <= x.rows; i += 4) add_four_powers(x.data + i * x.stride, x.stride, x.cols, first, second, third);
  for (; i < x.rows; ++i) {
    const Scalar* const from = x.data + i * x.stride;
    for (std::ptrdiff_t j = 0; j < x.cols; ++j) {
      const auto value = static_cast<double>(from[j]), square = value * value;
      first[j] += value;
      second[j] += square;
      third[j] += square * value;
    }
  }
}

template <class Scalar>
constexpr Kernels<Scalar> all_kernels{&multiply_operands<Scalar>, &Blocks<Scalar>::pack,   &multiply_packed<Scalar>,
                                      Blocks<Scalar>::panel,      &softmax_of<Scalar>,     &gelu_of<Scalar>,
                                      &normalise_of<Scalar>,      &sum_x_log_x_of<Scalar>, &add_diagonals_of<Scalar>,
                                      &add_powers_of<Scalar>};

}  // namespace

}  // namespace vector_kernels

}  // namespace headwave
