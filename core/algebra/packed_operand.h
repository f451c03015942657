#pragma once

#include "product.h"

namespace headwave {

/// The right operand of many products, packed once in the kernel's order: keys and values of a head, used by every tile of
/// queries. Takes as much memory as the matrix.
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
