#include "lagged_sums.h"

namespace headwave {

namespace {

/// Transforms products of spectra to sums over lags.
/// @param cross  (T + 1, columns) conj(a) b
Matrix at_lags(const MatrixC& cross) {
  const Index length = cross.rows() - 1;
  const Matrix sums = real_columns(cross, 2 * length) / static_cast<double>(2 * length);
  Matrix result(cross.cols(), 2 * length - 1);
  result.leftCols(length - 1) = sums.bottomRows(length - 1).transpose();
  result.rightCols(length) = sums.topRows(length).transpose();
  return result;
}

}  // namespace

MatrixC padded_spectrum(MatrixView columns) {
  return padded_dft(columns, 2 * columns.rows());
}

MatrixC unpadded_rows(const MatrixC& padded) {
  const Index rows = (padded.rows() - 1) / 2 + 1;
  MatrixC result(rows, padded.cols());
  for (Index f = 0; f < rows; ++f) result.row(f) = padded.row(2 * f);
  return result;
}

Vector lagged_sums(const MatrixC& a, const MatrixC& b) {
  MatrixC cross(a.rows(), 1);
  for (Index f = 0; f < a.rows(); ++f) cross(f, 0) = a.row(f).dot(b.row(f));  // dot conjugates the first
  return at_lags(cross).row(0).transpose();
}

Matrix lagged_sums_by_column(const MatrixC& a, const MatrixC& b) {
  return at_lags(a.conjugate().cwiseProduct(b));
}

Vector prefix_sums(Eigen::Ref<const Vector> x) {
  Vector sums = Vector::Zero(x.size() + 1);
  for (Index i = 0; i < x.size(); ++i) sums[i + 1] = sums[i] + x[i];
  return sums;
}

}  // namespace headwave
