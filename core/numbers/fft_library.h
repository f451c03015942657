#pragma once

#include <complex>
#include <string>

#include "matrix.h"

namespace headwave {

using MatrixC = MatrixOf<std::complex<double>>;  ///< complex, row-major

/// The Fourier transforms of one library, as fft.h needs them. Nothing is normalised. All functions may be
/// called from several threads at once, and equal input gives equal digits.
struct FftLibrary {
  /// Name and version: "FFTW 3.3.10".
  std::string (*name)();
  /// half[s, f] = sum_n sequences[s, n] e^{-2 pi i f n / T}, for f = 0 .. floor(T/2).
  /// @param sequences  (sequences, T)  T >= 1
  /// @param half       (sequences, floor(T/2) + 1)
  void (*real_to_half)(const Matrix& sequences, MatrixC& half);
  /// sequences[s, n] = sum_{-T/2 < f <= T/2} half[s, f] e^{2 pi i f n / T}, with half[s, -f] = conj half[s, f].
  /// Imaginary parts at f = 0 and T/2 are ignored.
  /// @param half       (sequences, floor(T/2) + 1)  overwritten
  /// @param sequences  (sequences, T)  T >= 1
  void (*half_to_real)(MatrixC& half, Matrix& sequences);
};

/// FFTW (GPL); nullptr if the program was built without FFTW (HEADWAVE_FFT=Eigen).
const FftLibrary* fftw_library();

/// The FFT module of Eigen (MPL 2), which every build has.
///
/// If T has a large prime factor p, where the module takes O(T p) steps, the transform is a convolution:
///
///     F[f] = w[f] sum_n (x[n] w[n]) conj(w[f - n]),   w[n] = e^{-pi i n^2 / T}                      (1)
///
/// Source: Bluestein 1970, doi:10.1109/TAU.1970.1162132.
const FftLibrary& eigen_fft_library();

}  // namespace headwave
