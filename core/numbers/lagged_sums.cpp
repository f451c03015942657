#include "lagged_sums.h"

#include <algorithm>

#include <fmt/format.h>

namespace headwave {

namespace {

void require_same_shape(const MatrixC& a, const MatrixC& b) {
  if (a.rows() != b.rows() || a.cols() != b.cols() || a.rows() < 2)
    throw ShapeError(fmt::format("lagged sums: spectra of {} x {} and {} x {}; expected two of one shape", a.rows(),
                                 a.cols(), b.rows(), b.cols()));
}

/// Back to lags, two real sequences at a time as the parts of one complex one.
/// @param cross  (T + 1, columns) conj(a) b
Matrix at_lags(const MatrixC& cross) {
  const Index half = cross.rows() - 1, columns = cross.cols();  // half = T
  const Index pairs = (columns + 1) / 2;
  const std::complex<double> i(0, 1);
  // The transform of the conjugate is the conjugate of the inverse, but for its length.
  MatrixC whole(2 * half, pairs);
  for (Index p = 0; p < pairs; ++p) {
    const bool two = 2 * p + 1 < columns;
    for (Index f = 0; f < 2 * half; ++f) {
      const bool mirrored = f > half;
      const Index row = mirrored ? 2 * half - f : f;
      const auto part = [&](Index column) { return mirrored ? std::conj(cross(row, column)) : cross(row, column); };
      whole(f, p) = std::conj(part(2 * p) + (two ? i * part(2 * p + 1) : 0.0));
    }
  }
  const MatrixC sums = dft(whole);
  Matrix result(columns, 2 * half - 1);
  for (Index t = 1 - half; t < half; ++t)
    for (Index column = 0; column < columns; ++column) {
      const std::complex<double> value = std::conj(sums((t + 2 * half) % (2 * half), column / 2));
      result(column, t + half - 1) = (column % 2 == 0 ? value.real() : value.imag()) / static_cast<double>(2 * half);
    }
  return result;
}

}  // namespace

MatrixC padded_spectrum(MatrixView columns) {
  Matrix padded = Matrix::Zero(2 * columns.rows(), columns.cols());
  padded.topRows(columns.rows()) = columns;
  return real_dft(padded);
}

MatrixC unpadded_rows(const MatrixC& padded) {
  const Index rows = (padded.rows() - 1) / 2 + 1;
  MatrixC result(rows, padded.cols());
  for (Index f = 0; f < rows; ++f) result.row(f) = padded.row(2 * f);
  return result;
}

Vector lagged_sums(const MatrixC& a, const MatrixC& b) {
  require_same_shape(a, b);
  MatrixC cross(a.rows(), 1);
  for (Index f = 0; f < a.rows(); ++f) cross(f, 0) = a.row(f).dot(b.row(f));  // dot conjugates the first
  return at_lags(cross).row(0).transpose();
}

Matrix lagged_sums_by_column(const MatrixC& a, const MatrixC& b) {
  require_same_shape(a, b);
  return at_lags(a.conjugate().cwiseProduct(b));
}

}  // namespace headwave
