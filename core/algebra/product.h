#pragma once

#include <complex>
#include <type_traits>

#include "../numbers/matrix.h"
#include "kernels.h"

// Products of matrices, each computed by the one kernel that fits the processor: no other place multiplies matrices but Eigen's
// own decompositions, so that what is slow to compile is compiled once for every vector width.

namespace headwave {

namespace product_detail {

/// Whether a kernel can read it where it lies: entries of a row, or of a column, side by side.
template <class Derived>
constexpr bool lies_in_memory = static_cast<bool>(Derived::Flags& Eigen::DirectAccessBit) &&
                                int{Derived::InnerStrideAtCompileTime} == 1;

/// The operand itself, or what it evaluates to.
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

/// out = a b, with the widest vectors that the processor has (kernels.h). Operands that do not lie in memory are evaluated first.
/// @param out  of the product's size, by rows or one column, no part of a or b
template <class Out, class A, class B>
void multiply(Out&& out, const Eigen::MatrixBase<A>& a, const Eigen::MatrixBase<B>& b) {
  product_detail::multiply(out, a, b, false);
}

/// out += a b; see multiply().
template <class Out, class A, class B>
void multiply_add(Out&& out, const Eigen::MatrixBase<A>& a, const Eigen::MatrixBase<B>& b) {
  product_detail::multiply(out, a, b, true);
}

/// a b; a column where b is one, a row where a is one.
template <class A, class B>
requires(std::is_same_v<typename A::Scalar, typename B::Scalar>)
    product_detail::ProductOf<A, B> product(const Eigen::MatrixBase<A>& a, const Eigen::MatrixBase<B>& b) {
  product_detail::ProductOf<A, B> out(a.rows(), b.cols());
  product_detail::multiply(out, a, b, false);
  return out;
}

/// Real parts, and below them imaginary ones: what a complex matrix is to a product with a real one.
/// @param a  (n, d)
/// @return   (2 n, d)
Matrix stacked_parts(const MatrixOf<std::complex<double>>& a);

/// a b of a complex and a real matrix: half of what two complex ones would cost.
MatrixOf<std::complex<double>> product_with_real(const MatrixOf<std::complex<double>>& a, const Matrix& b);

/// a^T a, of which the half below the diagonal is computed, and mirrored: symmetric to the bit.
/// @param a  (n, d)
/// @return   (d, d)
Matrix gram_of(MatrixView a);

}  // namespace headwave
