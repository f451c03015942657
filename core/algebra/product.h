#pragma once

#include <complex>
#include <type_traits>

#include "../numbers/matrix.h"
#include "kernels.h"

// Matrix products by the kernel for this processor. All code outside Eigen's decompositions multiplies matrices with these
// functions, so that the slow templates are compiled once per vector width.

namespace headwave {

namespace product_detail {

/// Whether a kernel can read the expression in place: entries of a row, or of a column, are contiguous.
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

/// out = a b, with the widest vectors of the processor (kernels.h). Operands that are expressions are evaluated first.
/// @param out  has the size of the product, by rows or one column; does not overlap a or b
template <class Out, class A, class B>
void multiply(Out&& out, const Eigen::MatrixBase<A>& a, const Eigen::MatrixBase<B>& b) {
  product_detail::multiply(out, a, b, false);
}

/// out += a b; see multiply().
template <class Out, class A, class B>
void multiply_add(Out&& out, const Eigen::MatrixBase<A>& a, const Eigen::MatrixBase<B>& b) {
  product_detail::multiply(out, a, b, true);
}

/// a b: a column if b is a column, a row if a is a row.
template <class A, class B>
requires(std::is_same_v<typename A::Scalar, typename B::Scalar>)
    product_detail::ProductOf<A, B> product(const Eigen::MatrixBase<A>& a, const Eigen::MatrixBase<B>& b) {
  product_detail::ProductOf<A, B> out(a.rows(), b.cols());
  product_detail::multiply(out, a, b, false);
  return out;
}

/// Real parts stacked on imaginary parts, so that a complex matrix times a real one is one real product.
/// @param a  (n, d)
/// @return   (2 n, d)
Matrix stacked_parts(const MatrixOf<std::complex<double>>& a);

/// a b for a complex and a real matrix, at half the cost of a complex product.
MatrixOf<std::complex<double>> product_with_real(const MatrixOf<std::complex<double>>& a, const Matrix& b);

/// a^T a. The half below the diagonal is computed and mirrored, so the result is symmetric to the bit.
/// @param a  (n, d)
/// @return   (d, d)
Matrix gram_of(MatrixView a);

}  // namespace headwave
