#pragma once

#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

#include "../../core/numbers/matrix.h"

/// The discrete Fourier transform as it is written, in long double: F[f, c] = sum_n x[n, c] e^{-2 pi i f n / T}.
inline headwave::MatrixOf<std::complex<double>> direct_dft(const headwave::MatrixOf<std::complex<double>>& x,
                                                           headwave::Index frequencies) {
  using headwave::Index;
  const Index length = x.rows();
  std::vector<std::complex<long double>> turn(static_cast<std::size_t>(length));
  for (Index n = 0; n < length; ++n) {
    const long double angle =
        -2.0L * std::numbers::pi_v<long double> * static_cast<long double>(n) / static_cast<long double>(length);
    turn[static_cast<std::size_t>(n)] = {std::cos(angle), std::sin(angle)};
  }
  headwave::MatrixOf<std::complex<double>> result(frequencies, x.cols());
  for (Index f = 0; f < frequencies; ++f)
    for (Index c = 0; c < x.cols(); ++c) {
      std::complex<long double> sum = 0.0L;
      for (Index n = 0; n < length; ++n)
        sum +=
            std::complex<long double>(x(n, c).real(), x(n, c).imag()) * turn[static_cast<std::size_t>(f * n % length)];
      result(f, c) = {static_cast<double>(sum.real()), static_cast<double>(sum.imag())};
    }
  return result;
}
