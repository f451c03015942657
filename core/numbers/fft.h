#pragma once

#include <string>

#include "fft_library.h"
#include "matrix.h"

namespace headwave {

/// Factors by which a sequence is multiplied before its transform.
enum class Window {
  rectangular,  ///< 1, the published choice: narrow peaks, but much leakage to far frequencies
  hann,         ///< (1 - cos(2 pi n / T)) / 2: peaks half as high and two bins wide, but little leakage
};

/// A window's name in results: "rectangular", "hann".
const char* name_of(Window window);

/// What is done to each column before its transform, in this order.
struct SpectrumOptions {
  bool demean = false;                  ///< subtract the column's mean: clears the bin f = 0 and changes no other bin
  bool detrend = false;                 ///< subtract the column's least-squares line and mean: lowers small f
  Window window = Window::rectangular;  ///< if it is hann, also demean, or the mean leaks into f = 1
};

/// Discrete Fourier transform of each real column at the frequencies f = 0 .. floor(T/2), in cycles per T.
///
///     F[f, c] = sum_n w[n] x[n, c] e^{-2 pi i f n / T}                                      (1)
///
/// Not normalised: a cosine of amplitude a at a whole f has |F| = a T / 2. The other frequencies follow from
/// F[T - f] = conj F[f]. May be called from several threads at once; equal input gives equal digits. It is
/// computed by FFTW or by the FFT module of Eigen (fft_library.h).
///
/// Source: Frigo and Johnson 2005, doi:10.1109/JPROC.2004.840301 (FFTW).
/// @param columns  (T, columns)  one sequence per column, T >= 1
/// @returns (floor(T/2) + 1, columns)  in the unit of x
/// @throws ShapeError if there are no rows; NumericError if an entry is not finite
MatrixC real_dft(MatrixView columns, const SpectrumOptions& options = {});

/// real_dft() of columns that are padded with zeros.
/// @param length  rows after padding, at least the rows of `columns`
/// @returns (floor(length/2) + 1, columns)
/// @throws ShapeError if there are no rows, or more than `length`; NumericError if an entry is not finite
MatrixC padded_dft(MatrixView columns, Index length);

/// Absolute values, sqrt(re^2 + im^2) entry by entry. Much faster than std::abs, but squares may leave the
/// range of doubles: magnitudes below 1e-154 are inexact or 0, and magnitudes above 1e154 are infinite.
Matrix magnitudes(const MatrixC& values);

/// Absolute value of real_dft(): the amplitude spectrum of each real column, not normalised.
///
/// Without options, Parseval's equation holds:
///
///     sum_n x[n]^2 = (|F[0]|^2 + 2 sum_{0 < f < T/2} |F[f]|^2 + [T even] |F[T/2]|^2) / T    (2)
///
/// @param columns  (T, columns)  one sequence per column, T >= 1
/// @returns (floor(T/2) + 1, columns)  in the unit of x
/// @throws ShapeError if there are no rows; NumericError if an entry is not finite
Matrix amplitude_spectrum(MatrixView columns, const SpectrumOptions& options = {});

/// T times the inverse of real_dft(): real columns from the first half of their transform.
///
///     x[n, c] = sum_{-T/2 < f <= T/2} F[f, c] e^{2 pi i f n / T},   F[-f] = conj F[f]                (3)
///
/// Imaginary parts at f = 0 and T/2 are ignored, since they are 0 for real columns.
/// @param half    (floor(T/2) + 1, columns)
/// @param length  T
/// @returns (T, columns)
/// @throws ShapeError if `half` does not have floor(T/2) + 1 rows; NumericError if an entry is not finite
Matrix real_columns(const MatrixC& half, Index length);

/// Name and version of the library that computes the transforms: "FFTW 3.3.10", "FFT of Eigen 3.4.0".
std::string fft_library();

}  // namespace headwave
