#pragma once

#include <cstddef>

namespace headwave {

/// A matrix in memory, of which a kernel knows nothing else; this header has no Eigen, see kernels_of.h.
template <class Scalar>
struct Operand {
  const Scalar* data;
  std::ptrdiff_t rows, cols;
  std::ptrdiff_t stride;  ///< from one row to the next; by columns: from one column to the next
  bool by_rows;
};

/// A right operand in the order in which a kernel reads it, of the sizes that it has.
template <class Scalar>
struct PackedMatrix {
  const Scalar* data;
  std::ptrdiff_t rows, cols;
};

/// What is worth having once for every vector width that a processor may have.
template <class Scalar>
struct Kernels {
  /// out = a b, or out += a b; of (a.rows, b.cols), by rows that are `stride` apart, and no part of a or b.
  void (*multiply)(const Operand<Scalar>& a, const Operand<Scalar>& b, Scalar* out, std::ptrdiff_t stride, bool add);
  /// Puts b, of which the products of many a are wanted, in the order in which multiply_packed() reads it.
  /// @param packed  room for b.rows * b.cols, at an address that 64 bytes divide
  void (*pack)(const Operand<Scalar>& b, Scalar* packed);
  /// out = a b of the first a.cols rows and the first `cols` columns of a b that was packed.
  /// @param cols  all of them, or a multiple of columns_at_once
  void (*multiply_packed)(const Operand<Scalar>& a, const PackedMatrix<Scalar>& b, std::ptrdiff_t cols, Scalar* out,
                          std::ptrdiff_t stride);
  std::ptrdiff_t columns_at_once;
  /// x = exp(x - max) / sum exp(x - max), in place; all zeros where every entry is -infinity, or where there is none.
  void (*softmax)(Scalar* x, std::ptrdiff_t count);
  /// x = x Phi(x) in place, Phi the normal distribution: gelu as it is defined.
  void (*gelu)(Scalar* x, std::ptrdiff_t count);
  /// x = (x - m) / sqrt(mean (x - m)^2 + eps) * scale + shift in place, m the mean of x or 0: in double, and rounded before scale.
  /// @param shift  null: none
  void (*normalise)(Scalar* x, std::ptrdiff_t count, bool about_mean, double eps, const Scalar* scale,
                    const Scalar* shift);
  /// sum x ln x, with 0 ln 0 = 0: terms in Scalar, summed in double; not finite where an entry is not.
  double (*sum_x_log_x)(const Scalar* x, std::ptrdiff_t count);
  /// out[i, j] += sum_k x[i, k] x[j, k] of few rows that are long: symmetric to the bit where it was.
  /// @param x    by rows
  /// @param out  (x.rows, x.rows), row after row
  void (*add_row_products)(const Operand<Scalar>& x, Scalar* out);
  /// out[x.rows - 1 - i + j] += x[i, j], in the order of the rows: sums along diagonals, of which there are rows + cols - 1, the
  /// lower left corner first.
  /// @param x  by rows
  void (*add_diagonals)(const Operand<Scalar>& x, double* out);
  /// first[j] += x[i, j], second[j] += x[i, j]^2, third[j] += x[i, j]^3, in the order of the rows.
  /// @param x  by rows
  void (*add_powers)(const Operand<Scalar>& x, double* first, double* second, double* third);
};

/// Those of the widest vectors that this processor has: 512 bits where it has AVX-512 (F, BW, CD, DQ, VL), else what the
/// program was compiled for. HEADWAVE_VECTORS=compiled in the environment leaves 512 bits unused. Chosen once for the life
/// of the process; sums differ in their last digits between the two.
/// @throws FormatError if HEADWAVE_VECTORS is neither "widest" nor "compiled"
template <class Scalar>
const Kernels<Scalar>& kernels();

/// The vector instructions that kernels() uses: "AVX-512", "AVX2, FMA", "SSE2", "NEON", "none".
const char* instruction_set();

}  // namespace headwave
