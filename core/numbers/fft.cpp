#include "fft.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "fft_library.h"

namespace headwave {

namespace {

const FftLibrary& library() {
  static const FftLibrary& chosen = fftw_library() != nullptr ? *fftw_library() : eigen_fft_library();
  return chosen;
}

// Number of columns that are copied to contiguous memory and transformed together: FFTW is two to five times
// as fast as with entries a row apart.
constexpr Index columns_at_once = 16;

// rows = columns^T, a few rows of `columns` at a time, while their cache lines are hot.
template <class Rows, class Columns>
void transpose_into(Rows&& rows, const Columns& columns) {
  constexpr Index step = 8;
  for (Index n = 0; n < columns.rows(); n += step) {
    const Index count = std::min(step, columns.rows() - n);
    rows.middleCols(n, count) = columns.middleRows(n, count).transpose();
  }
}

// Subtracts from each column its least-squares line, or only its mean.
void remove_trend(Matrix& x, bool line) {
  const Eigen::RowVectorXd mean = x.colwise().mean();
  x.rowwise() -= mean;
  if (!line || x.rows() < 2) return;
  const auto length = static_cast<double>(x.rows());
  const Vector ramp = Vector::LinSpaced(x.rows(), -0.5 * (length - 1.0), 0.5 * (length - 1.0));
  Eigen::RowVectorXd slope = Eigen::RowVectorXd::Zero(x.cols());
  for (Index n = 0; n < x.rows(); ++n) slope += ramp[n] * x.row(n);
  slope /= ramp.squaredNorm();
  for (Index n = 0; n < x.rows(); ++n) x.row(n) -= ramp[n] * slope;
}

void apply_hann(Matrix& x) {
  const double step = 2.0 * std::numbers::pi / static_cast<double>(x.rows());
  for (Index n = 0; n < x.rows(); ++n) x.row(n) *= 0.5 - 0.5 * std::cos(step * static_cast<double>(n));
}

Matrix prepared(MatrixView columns, const SpectrumOptions& options) {
  Matrix x = columns;
  if (options.demean || options.detrend) remove_trend(x, options.detrend);
  if (options.window == Window::hann) apply_hann(x);
  return x;
}

}  // namespace

const char* name_of(Window window) {
  return window == Window::hann ? "hann" : "rectangular";
}

MatrixC real_dft(MatrixView columns, const SpectrumOptions& options) {
  if (!options.demean && !options.detrend && options.window == Window::rectangular)
    return padded_dft(columns, columns.rows());
  return padded_dft(prepared(columns, options), columns.rows());
}

MatrixC padded_dft(MatrixView columns, Index length) {
  if (columns.rows() < 1 || columns.rows() > length)
    throw ShapeError(
        fmt::format("a Fourier transform: expected at least 1 row and a length no smaller, found {} rows and length {}",
                    columns.rows(), length));
  if (!are_finite(columns))
    throw NumericError(
        "a Fourier transform: an entry is not finite; look for NaN or infinity in the values to transform");
  MatrixC spectrum(length / 2 + 1, columns.cols());
  Matrix sequences;  // one per row
  MatrixC half;
  for (Index first = 0; first < columns.cols(); first += columns_at_once) {
    const Index width = std::min(columns_at_once, columns.cols() - first);
    if (sequences.rows() != width) {
      sequences.setZero(width, length);
      half.resize(width, spectrum.rows());
    }
    transpose_into(sequences, columns.middleCols(first, width));
    library().real_to_half(sequences, half);
    spectrum.middleCols(first, width) = half.transpose();
  }
  return spectrum;
}

Matrix amplitude_spectrum(MatrixView columns, const SpectrumOptions& options) {
  return magnitudes(real_dft(columns, options));
}

Matrix magnitudes(const MatrixC& values) {
  Matrix result(values.rows(), values.cols());
  const auto* parts = reinterpret_cast<const double*>(values.data());
  double* const squares = result.data();
  for (Index i = 0; i < values.size(); ++i)
    squares[i] = parts[2 * i] * parts[2 * i] + parts[2 * i + 1] * parts[2 * i + 1];
  result = result.cwiseSqrt();
  return result;
}

Matrix real_columns(const MatrixC& half, Index length) {
  if (length < 1 || half.rows() != length / 2 + 1)
    throw ShapeError(
        fmt::format("real_columns: expected T >= 1 and floor(T/2) + 1 frequencies, found T = {} and {} frequencies",
                    length, half.rows()));
  if (!are_finite(half))
    throw NumericError("real_columns: an entry is not finite; look for NaN or infinity in the values to transform");
  Matrix columns(length, half.cols());
  MatrixC spectrum;  // one column of `half` per row
  Matrix sequences;
  for (Index first = 0; first < half.cols(); first += columns_at_once) {
    const Index width = std::min(columns_at_once, half.cols() - first);
    spectrum.resize(width, half.rows());
    sequences.resize(width, length);
    transpose_into(spectrum, half.middleCols(first, width));
    library().half_to_real(spectrum, sequences);
    columns.middleCols(first, width) = sequences.transpose();
  }
  return columns;
}

std::string fft_library() {
  return library().name();
}

}  // namespace headwave
