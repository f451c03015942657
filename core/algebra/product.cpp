#include "product.h"

#include <algorithm>

namespace headwave {

Matrix stacked_parts(const MatrixOf<std::complex<double>>& a) {
  Matrix parts(2 * a.rows(), a.cols());
  parts.topRows(a.rows()) = a.real();
  parts.bottomRows(a.rows()) = a.imag();
  return parts;
}

MatrixOf<std::complex<double>> product_with_real(const MatrixOf<std::complex<double>>& a, const Matrix& b) {
  const Matrix parts = product(stacked_parts(a), b);
  MatrixOf<std::complex<double>> result(a.rows(), b.cols());
  result.real() = parts.topRows(a.rows());
  result.imag() = parts.bottomRows(a.rows());
  return result;
}

Matrix gram_of(MatrixView a) {
  constexpr Index panel = 96;  // columns at a time: little is computed above the diagonal, where it is not needed
  Matrix result(a.cols(), a.cols());
  for (Index first = 0; first < a.cols(); first += panel) {
    const Index width = std::min(panel, a.cols() - first), below = a.cols() - first;
    multiply(result.block(first, first, below, width), a.rightCols(below).transpose(), a.middleCols(first, width));
  }
  result.triangularView<Eigen::StrictlyUpper>() = result.transpose();
  return result;
}

}  // namespace headwave
