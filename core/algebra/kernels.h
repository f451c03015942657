#pragma once

#include <cstddef>

namespace headwave {

/// A matrix in memory as kernels read it. This header must not include Eigen (kernels_of.h says why).
template <class Scalar>
struct Operand {
  const Scalar* data;
  std::ptrdiff_t rows, cols;
  std::ptrdiff_t stride;  ///< number of entries from one row to the next; if not by_rows, from one column to the next
  bool by_rows;
};

/// A right operand, packed in the order in which kernels read it.
template <class Scalar>
struct PackedMatrix {
  const Scalar* data;
  std::ptrdiff_t rows, cols;
};

/// Functions that are compiled once for every vector width.
template <class Scalar>
struct Kernels {
  /// out = a b, or out += a b if `add`. Rows of out are `stride` apart. out does not overlap a or b.
  void (*multiply)(const Operand<Scalar>& a, const Operand<Scalar>& b, Scalar* out, std::ptrdiff_t stride, bool add);
  /// Packs b for many products a b with multiply_packed().
  /// @param packed  b.rows * b.cols entries, aligned to 64 bytes
  void (*pack)(const Operand<Scalar>& b, Scalar* packed);
  /// out = a b, with the first a.cols rows and the first `cols` columns of a packed b.
  /// @param cols  all columns, or a multiple of columns_at_once
  void (*multiply_packed)(const Operand<Scalar>& a, const PackedMatrix<Scalar>& b, std::ptrdiff_t cols, Scalar* out,
                          std::ptrdiff_t stride);
  std::ptrdiff_t columns_at_once;
  /// x = exp(x - max) / sum exp(x - max), in place; all zeros if every entry is -infinity or count is 0.
  void (*softmax)(Scalar* x, std::ptrdiff_t count);
  /// x = x Phi(x) in place, with Phi the normal distribution: the exact gelu.
  void (*gelu)(Scalar* x, std::ptrdiff_t count);
  /// x = (x - m) / sqrt(mean (x - m)^2 + eps) * scale + shift in place; m is the mean of x if about_mean,
  /// else 0. It is computed in double and rounded before the scale is applied.
  /// @param shift  null: no shift
  void (*normalise)(Scalar* x, std::ptrdiff_t count, bool about_mean, double eps, const Scalar* scale,
                    const Scalar* shift);
  /// sum x ln x, with 0 ln 0 = 0. Terms are Scalar, and their sum is double. The sum is not finite if an
  /// entry is not finite.
  double (*sum_x_log_x)(const Scalar* x, std::ptrdiff_t count);
  /// Adds the sums of the rows + cols - 1 diagonals to out, from the lower left corner on. They are summed
  /// row by row: out[x.rows - 1 - i + j] += x[i, j].
  /// @param x  by rows
  void (*add_diagonals)(const Operand<Scalar>& x, double* out);
  /// first[j] += x[i, j], second[j] += x[i, j]^2, third[j] += x[i, j]^3, row by row.
  /// @param x  by rows
  void (*add_powers)(const Operand<Scalar>& x, double* first, double* second, double* third);
};

/// Vector instructions for which kernels are compiled, narrowest first.
enum class Vectors {
  compiled,  ///< as in the rest of the program (HEADWAVE_ARCH); NEON on aarch64
  avx2,      ///< 256 bits: AVX2 and FMA
  avx512,    ///< 512 bits: AVX-512 F, BW, CD, DQ and VL
};

/// The kernels for some vector instructions; nullptr if this processor lacks these instructions.
template <class Scalar>
const Kernels<Scalar>* kernels_for(Vectors vectors);

/// The kernels for the widest vectors of this processor, limited by the environment variable HEADWAVE_VECTORS
/// (avx2, compiled). They are chosen once per process. Sums by different kernels may differ in last digits.
/// @throws FormatError if HEADWAVE_VECTORS is not "widest", "avx2" or "compiled"
template <class Scalar>
const Kernels<Scalar>& kernels();

/// The vector instructions that kernels() uses: "AVX-512", "AVX2, FMA", "AVX", "SSE2", "NEON", "none".
const char* instruction_set();

/// Kernels compiled for wider vectors than the rest of the program; nullptr if they are not compiled (not
/// x86-64). Only kernels_for() calls these, after it checked that the processor has such vectors.
template <class Scalar>
const Kernels<Scalar>* avx2_kernels();
template <class Scalar>
const Kernels<Scalar>* avx512_kernels();

}  // namespace headwave
