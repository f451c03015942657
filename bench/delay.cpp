// Delays of the heads of a 12 x 12 model from their cross-spectra for one document of 512 tokens, one thread.

#include "../analysis/waves/delay.h"

#include <complex>
#include <numbers>

#include <benchmark/benchmark.h>

#include "drawn.h"

using namespace headwave;

namespace {

constexpr Index length = 512, heads = 144;

/// Each head has its own offset, |t| < 8, and noise as large as the signal.
MatrixC cross_spectra() {
  Random random(3);
  const Matrix real = drawn(length / 2 + 1, heads, random), imag = drawn(length / 2 + 1, heads, random);
  MatrixC cross(length / 2 + 1, heads);
  for (Index head = 0; head < heads; ++head) {
    const double offset = 16 * random.uniform() - 8;
    for (Index f = 0; f < cross.rows(); ++f)
      cross(f, head) = std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(f) * offset / length) +
                       std::complex<double>(real(f, head), imag(f, head));
  }
  return cross;
}

void delays_144_heads(benchmark::State& state) {
  const MatrixC cross = cross_spectra();
  for (auto _ : state) benchmark::DoNotOptimize(delays(cross, length).data());
}

}  // namespace

BENCHMARK(delays_144_heads)->Unit(benchmark::kMillisecond);
