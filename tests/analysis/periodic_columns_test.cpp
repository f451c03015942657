#include "../../analysis/waves/periodic_columns.h"

#include <cmath>
#include <numbers>

#include "../../core/numbers/fft.h"
#include "../../core/numbers/random.h"
#include "../catch.h"

using namespace headwave;

TEST_CASE("a cosine on a bin has all its power there, between two bins nearly all, and a constant none") {
  for (const double frequency : {5.0, 5.5}) {
    Matrix column(32, 1);
    for (Index n = 0; n < 32; ++n)
      column(n, 0) = 3 + std::cos(2 * std::numbers::pi * frequency * static_cast<double>(n) / 32);
    const PeakShare peak = peak_share(real_dft(column).col(0), 32);
    CHECK((peak.frequency == 5 || peak.frequency == 6));
    CHECK(peak.share > (frequency == 5.0 ? 1 - 1e-12 : 0.8));
  }
  CHECK(peak_share(real_dft(Matrix(Matrix::Ones(9, 1))).col(0), 9).share == 0);
  CHECK(peak_share(real_dft(Matrix(Matrix::Ones(1, 1))).col(0), 1).share == 0);
}

TEST_CASE("one in a hundred columns of noise counts as periodic, a wave inside the band does, outside it does not") {
  const PeriodicOptions options;
  constexpr Index length = 128, columns = 4000;
  const double threshold = periodic_threshold(length, options);
  Random random(77);
  Matrix noise(length, columns);
  for (double& entry : noise.reshaped()) entry = random.normal();
  const MatrixC spectra = real_dft(noise);
  double above = 0;
  for (Index c = 0; c < columns; ++c) above += peak_share(spectra.col(c), length).share > threshold ? 1 : 0;
  CHECK(above / columns == Approx(0.01).margin(0.006));
  CHECK(is_periodic({20, 0.9}, length, threshold, options));
  CHECK_FALSE(is_periodic({4, 0.9}, length, threshold, options));   // drift
  CHECK_FALSE(is_periodic({33, 0.9}, length, threshold, options));  // less than four tokens per cycle
  CHECK_FALSE(is_periodic({20, 0.5 * threshold}, length, threshold, options));
  CHECK(periodic_threshold(3, options) == 1);
}
