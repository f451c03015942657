// periodic_columns and redefined, of heads whose redefined queries and keys are the columns of the states.

#include <cmath>
#include <numbers>

#include "../../core/numbers/fft.h"
#include "../../core/numbers/random.h"
#include "../catch.h"
#include "planted_waves.h"
#include "test_pass.h"

using namespace headwave;

namespace {

/// Fields of an analysis of one head that reads column after column of the states, the first with the largest gain.
std::vector<Field> fields_of_columns(const char* name, const Matrix& columns) {
  const Index count = columns.cols();
  const Matrix read = Vector::LinSpaced(count, static_cast<double>(count), 1).asDiagonal();
  const WaveStack head({read}, {Matrix::Identity(count, count)});
  return TestPass{.grid = head.grid(), .stack = head.stack}.fields(name, {shown_states(columns.cast<float>())});
}

double wave(double frequency, Index n, Index length) {
  return std::cos(2 * std::numbers::pi * frequency * static_cast<double>(n) / static_cast<double>(length));
}

}  // namespace

TEST_CASE("a cosine on a bin has all its power there, between two bins nearly all, and a constant none") {
  Matrix columns(32, 3);
  for (Index n = 0; n < 32; ++n) columns.row(n) << 3 + wave(5, n, 32), 3 + wave(5.5, n, 32), 1;
  const std::vector<Field> fields = fields_of_columns("periodic_columns", columns);
  const std::vector<double>& share = field_of(fields, "periodic_columns/peak_share").doubles();  // (component, side)
  CHECK(share[0] > 1 - 1e-6);
  CHECK(share[2] > 0.8);
  CHECK(share[2] < 0.99);
  CHECK(share[4] == 0);
  CHECK(field_of(fields, "periodic_columns/peak_frequency").doubles()[1] == 5);
}

TEST_CASE("one in a hundred columns of noise is as periodic as counts, a wave inside the band is, outside it is not") {
  constexpr Index length = 128, noises = 4000;
  Matrix columns(length, 4);
  Random random(77);
  for (Index n = 0; n < length; ++n)
    columns.row(n) << wave(20, n, length), wave(4, n, length), wave(33, n, length), random.normal();
  const std::vector<Field> fields = fields_of_columns("periodic_columns", columns);
  CHECK(field_of(fields, "periodic_columns/query").doubles()[0] == 1);  // neither drift nor less than four tokens
  CHECK(field_of(fields, "periodic_columns/key").doubles()[0] == 1);
  const auto threshold = std::get<double>(field_of(fields, "periodic_columns/query").attributes.at("threshold"));
  double above = 0;
  for (Index c = 0; c < noises; ++c) {
    const Vector noise = Vector::NullaryExpr(length, [&] { return random.normal(); });
    Vector power = real_dft(Matrix(noise)).col(0).cwiseAbs2();
    power[0] = 0;
    power[length / 2] /= 2;
    Index peak = 0;
    power.maxCoeff(&peak);
    double near = 0;
    for (Index f = std::max<Index>(1, peak - 1); f <= std::min(length / 2, peak + 1); ++f) near += power[f];
    above += near / power.sum() > threshold ? 1 : 0;
  }
  CHECK(above / noises == Approx(0.01).margin(0.006));
}

TEST_CASE("redefined: the most periodic column of each range of periods comes first, then the most periodic others") {
  constexpr Index length = 512;
  const std::vector<double> frequencies{10, 11, 12, 88, 20};  // periods 51, 47, 43, 5.8 and 26 tokens
  const std::vector<double> noises{0.1, 0.2, 0.3, 1.0, 0.8};  // the more, the less periodic
  Matrix columns(length, 5);
  Random random(3);
  for (Index j = 0; j < 5; ++j)
    for (Index i = 0; i < length; ++i)
      columns(i, j) = wave(frequencies[static_cast<std::size_t>(j)], i, length) +
                      noises[static_cast<std::size_t>(j)] * random.normal();
  const std::vector<Field> fields = fields_of_columns("redefined", columns);
  // Of [32, 128), [8, 32) and [4, 8) tokens one each, then the second of [32, 128).
  CHECK(field_of(fields, "redefined/component").doubles() == std::vector<double>{1, 5, 4, 2});
  for (const char* name : {"redefined/query", "redefined/key"})
    for (std::size_t i = 0; i < 20; ++i)
      CHECK(std::abs(field_of(fields, name).doubles()[length + i]) ==
            Approx(std::abs(columns(static_cast<Index>(i), 4))).margin(1e-5));
}
