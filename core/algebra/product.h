#pragma once

// Matrix products by the kernels for this processor. All code but Eigen's decompositions multiplies matrices
// with these functions, so that Eigen's templates, slow to compile, are compiled once per vector width.

#include <complex>
#include <type_traits>

#include "../numbers/matrix.h"
#include "kernels.h"

namespace headwave {

namespace product_detail {

/// Whether a kernel can read the expression in place: its rows, or its columns, are contiguous.
template <class Derived>
constexpr bool lies_in_memory = static_cast<bool>(Derived::Flags& Eigen::DirectAccessBit) &&
                                int{Derived::InnerStrideAtCompileTime} == 1;

/// The operand itself, or its evaluated copy.
template <class Derived>
decltype(auto) in_memory(const Eigen::MatrixBase<Derived>& operand) {
  if constexpr (lies_in_memory<Derived>)
    return (operand.derived());
  else
    return typename Derived::PlainObject(operand);
}

template <class Derived>
Operand<typename Derived::Scalar> operand_of(const Eigen::MatrixBase<Derived>& matrix) {
  const Derived& of = matrix.derived();
  return {of.data(), of.rows(), of.cols(), of.outerStride(), static_cast<bool>(Derived::IsRowMajor)};
}

template <class Out, class A, class B>
void multiply(Out& out, const A& a, const B& b, bool add) {
  constexpr bool column = int{Out::ColsAtCompileTime} == 1;
  static_assert(static_cast<bool>(Out::IsRowMajor) || column, "a product is written by rows");
  static_assert(lies_in_memory<Out>, "a product is written where its rows lie");
  const auto& left = in_memory(a);
  const auto& right = in_memory(b);
  eigen_assert(a.cols() == b.rows() && out.rows() == a.rows() && out.cols() == b.cols());
  kernels<typename Out::Scalar>().multiply(operand_of(left), operand_of(right), out.data(),
                                           column ? 1 : out.outerStride(), add);
}

template <class A, class B>
using ProductOf = std::conditional_t<
    int{B::ColsAtCompileTime} == 1, VectorOf<typename A::Scalar>,
    std::conditional_t<int{A::RowsAtCompileTime} == 1, Eigen::Matrix<typename A::Scalar, 1, Eigen::Dynamic>,
                       MatrixOf<typename A::Scalar>>>;

}  // namespace product_detail

/// out = a b, by kernels() (kernels.h). Operands that are not in memory are evaluated first.
/// @param out  has the size of the product, is row-major or one column, and does not overlap a or b
template <class Out, class A, class B>
void multiply(Out&& out, const Eigen::MatrixBase<A>& a, const Eigen::MatrixBase<B>& b) {
  product_detail::multiply(out, a, b, false);
}

/// out += a b; see multiply().
template <class Out, class A, class B>
void multiply_add(Out&& out, const Eigen::MatrixBase<A>& a, const Eigen::MatrixBase<B>& b) {
  product_detail::multiply(out, a, b, true);
}

/// Returns a b: a column if b is a column, a row if a is a row.
template <class A, class B>
requires(std::is_same_v<typename A::Scalar, typename B::Scalar>)
    product_detail::ProductOf<A, B> product(const Eigen::MatrixBase<A>& a, const Eigen::MatrixBase<B>& b) {
  product_detail::ProductOf<A, B> out(a.rows(), b.cols());
  product_detail::multiply(out, a, b, false);
  return out;
}

/// Real parts stacked on imaginary parts, so that a complex matrix times a real one is one real product.
/// @param a  (n, d)
/// @returns (2 n, d)
Matrix stacked_parts(const MatrixOf<std::complex<double>>& a);

/// a b for a complex and a real matrix, at half the cost of a complex product.
MatrixOf<std::complex<double>> product_with_real(const MatrixOf<std::complex<double>>& a, const Matrix& b);

/// a^T a. The half below the diagonal is computed and mirrored, so the result is exactly symmetric.
/// @param a  (n, d)
/// @returns (d, d)
Matrix gram_of(MatrixView a);

/// The right operand of many products, packed once in the kernel's order. For example, all tiles of queries
/// use the same keys and values of a head. It takes as much memory as the matrix.
///
///     PackedOperand<float> keys(key.transpose());          // (d_head, n)
///     keys.multiply(scores.leftCols(keys.columns_for(reach)), query);
///
template <class Scalar>
class PackedOperand {
 public:
  /// @param b  (rows, cols)
  template <class B>
  explicit PackedOperand(const Eigen::MatrixBase<B>& b) : rows_(b.rows()), cols_(b.cols()), packed_(b.size()) {
    const auto& there = product_detail::in_memory(b);
    if (packed_.size() > 0) kernels<Scalar>().pack(product_detail::operand_of(there), packed_.data());
  }

  [[nodiscard]] Index rows() const { return rows_; }
  [[nodiscard]] Index cols() const { return cols_; }

  /// The smallest prefix of columns, at least `wanted`, that can be read separately.
  [[nodiscard]] Index columns_for(Index wanted) const {
    const Index at_once = kernels<Scalar>().columns_at_once;
    return std::min(cols_, (wanted + at_once - 1) / at_once * at_once);
  }

  /// out = a b, with the first a.cols() rows and out.cols() columns of b.
  /// @param out  (a.rows, columns_for(wanted)), by rows; does not overlap a
  /// @param a    (n, at most rows()), in memory
  template <class Out, class A>
  void multiply(Out&& out, const Eigen::MatrixBase<A>& a) const {
    static_assert(product_detail::lies_in_memory<A>, "the left operand is read where it lies");
    eigen_assert(a.cols() <= rows_ && out.rows() == a.rows() && out.cols() == columns_for(out.cols()));
    kernels<Scalar>().multiply_packed(product_detail::operand_of(a), {packed_.data(), rows_, cols_}, out.cols(),
                                      out.data(), out.outerStride());
  }

 private:
  Index rows_, cols_;
  VectorOf<Scalar> packed_;
};

}  // namespace headwave
