#include "../../core/numbers/fft.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "../../core/numbers/random.h"
#include "../../core/process/threads.h"
#include "../catch.h"
#include "../reference/direct_dft.h"
#include "../test_numbers.h"

using namespace headwave;

namespace {

Matrix random_columns(Index rows, Index columns, std::uint64_t seed) {
  Random random(seed);
  return Matrix::NullaryExpr(rows, columns, [&] { return random.normal(); });
}

// A fast transform's error grows with log T, that of one bin against the length of its column.
double tolerance(const MatrixC& x) {
  return 4.0 * eps * std::log2(2.0 * static_cast<double>(x.rows())) * x.norm();
}

}  // namespace

TEST_CASE("the DFT of three numbers is the one on the page") {
  Matrix x(3, 1);
  x << 1, 2, 4;
  const MatrixC f = real_dft(x);
  REQUIRE(f.rows() == 2);
  CHECK(std::abs(f(0, 0) - 7.0) <= 8 * eps);
  // 1 + 2 e^{-2 pi i/3} + 4 e^{-4 pi i/3} = 1 - 1 - 2 + i sqrt(3) (-1 + 2)
  CHECK(std::abs(f(1, 0) - std::complex<double>(-2.0, std::sqrt(3.0))) <= 8 * eps);
  CHECK(amplitude_spectrum(x)(1, 0) == Approx(std::sqrt(7.0)).epsilon(8 * eps));
}

TEST_CASE("the DFT agrees with a direct sum at every length", "[long]") {
  for (const Index length : {1, 2, 3, 4, 5, 7, 8, 15, 16, 31, 97, 100, 128, 257, 360, 512, 1009, 2048, 8192}) {
    const Index width = length > 1000 ? 2 : 5;
    const Matrix real = random_columns(length, width, 100 + static_cast<std::uint64_t>(length));
    const MatrixC x = real.cast<std::complex<double>>();
    INFO("T = " << length);
    const MatrixC one_sided = real_dft(real);
    REQUIRE(one_sided.rows() == length / 2 + 1);
    CHECK((one_sided - direct_dft(x, length / 2 + 1)).cwiseAbs().maxCoeff() <= tolerance(x));
  }
}

TEST_CASE("half a transform gives its real columns back, times their length") {
  Random random(5);
  for (const Index length : {1, 2, 3, 8, 15, 64, 97}) {
    Matrix columns(length, 3);
    for (double& entry : columns.reshaped()) entry = random.normal();
    const Matrix back = real_columns(real_dft(columns), length);
    REQUIRE(back.rows() == length);
    CHECK((back / static_cast<double>(length) - columns).cwiseAbs().maxCoeff() < 1e-13);
  }
  CHECK(real_columns(MatrixC(3, 0), 4).cols() == 0);
  CHECK_THROWS_WITH(real_columns(MatrixC::Zero(3, 1), 6), ContainsSubstring("found T = 6 and 3 frequencies"));
  CHECK_THROWS_WITH(real_columns(MatrixC::Zero(3, 1), 6),
                    ContainsSubstring("real_columns: expected T >= 1 and floor(T/2) + 1 frequencies, found T = 6"));
  CHECK_THROWS_WITH(real_columns(MatrixC::Constant(3, 1, not_defined), 4),
                    ContainsSubstring("real_columns: an entry is not finite"));
}

TEST_CASE("columns are transformed as each would be alone, however many there are") {
  for (const Index width : {1, 15, 16, 17, 45}) {
    const Matrix x = random_columns(24, width, 1);
    const MatrixC all = real_dft(x), padded = padded_dft(x, 40);
    const Matrix back = real_columns(all, 24);
    Matrix longer = Matrix::Zero(40, width);
    longer.topRows(24) = x;
    CHECK((padded - direct_dft(longer.cast<std::complex<double>>(), 21)).cwiseAbs().maxCoeff() <= tolerance(x));
    for (Index c = 0; c < width; ++c) {
      const MatrixC alone = real_dft(Matrix(x.col(c)));
      CHECK((all.col(c) - alone).cwiseAbs().maxCoeff() <= tolerance(x));
      CHECK((back.col(c) / 24.0 - x.col(c)).cwiseAbs().maxCoeff() < 1e-13);
    }
  }
  CHECK(padded_dft(Matrix(8, 0), 20).rows() == 11);
  CHECK_THROWS_WITH(padded_dft(Matrix(Matrix::Ones(8, 1)), 7), ContainsSubstring("found 8 rows and length 7"));
}

TEST_CASE("magnitudes are absolute values") {
  MatrixC values(1, 4);
  values << std::complex<double>(3, -4), 0, std::complex<double>(-1e100, 0), std::complex<double>(1e-20, 1e-20);
  const Matrix expected = values.cwiseAbs();
  CHECK((magnitudes(values) - expected).cwiseAbs().maxCoeff() <= 1e-15 * 1e100);
  CHECK(magnitudes(values)(0, 0) == 5);
  CHECK(magnitudes(values)(0, 1) == 0);
  CHECK(magnitudes(values)(0, 3) == Approx(expected(0, 3)).epsilon(1e-15));
}

TEST_CASE("amplitude spectra keep the energy: Parseval") {
  for (const Index length : {1, 2, 3, 64, 97, 512}) {
    const Matrix x = random_columns(length, 7, 42);
    const Matrix amplitude = amplitude_spectrum(x);
    for (Index c = 0; c < x.cols(); ++c) {
      double energy = 0.0;
      for (Index f = 0; f < amplitude.rows(); ++f)
        energy += (f == 0 || 2 * f == length ? 1.0 : 2.0) * amplitude(f, c) * amplitude(f, c);
      const double expected = x.col(c).squaredNorm();
      CHECK(std::abs(energy / static_cast<double>(length) - expected) <=
            16 * eps * expected * std::log2(2.0 * static_cast<double>(length)));
    }
  }
}

TEST_CASE("a cosine on a bin has amplitude a T / 2 there and nothing elsewhere") {
  const Index length = 96;
  Matrix x(length, 1);
  for (Index n = 0; n < length; ++n)
    x(n, 0) = 3.0 * std::cos(2.0 * std::numbers::pi * 7.0 * static_cast<double>(n) / 96.0 + 0.4);
  Matrix amplitude = amplitude_spectrum(x);
  CHECK(amplitude(7, 0) == Approx(144.0).epsilon(64 * eps));
  amplitude(7, 0) = 0.0;
  CHECK(amplitude.maxCoeff() <= 64 * eps * 144.0);

  // Hann spreads a line over its neighbours: a half in the middle, a quarter on each side.
  const Matrix spread = amplitude_spectrum(x, {.window = Window::hann});
  CHECK(spread(6, 0) == Approx(36.0).epsilon(64 * eps));
  CHECK(spread(7, 0) == Approx(72.0).epsilon(64 * eps));
  CHECK(spread(8, 0) == Approx(36.0).epsilon(64 * eps));
  CHECK(spread(9, 0) <= 64 * eps * 144.0);
}

TEST_CASE("demeaning empties f = 0 and detrending a line, nothing else") {
  const Index length = 33;
  Matrix x = random_columns(length, 3, 8);
  const Matrix plain = amplitude_spectrum(x);
  const Matrix demeaned = amplitude_spectrum(x, {.demean = true});
  CHECK(demeaned.row(0).maxCoeff() <= 16 * eps * x.norm());
  CHECK((demeaned.bottomRows(16) - plain.bottomRows(16)).cwiseAbs().maxCoeff() <= 16 * eps * x.norm());

  const Matrix detrended = amplitude_spectrum(x, {.detrend = true});
  for (Index n = 0; n < length; ++n) x.row(n).array() += 5.0 - 2.5 * static_cast<double>(n);
  const Matrix of_line = amplitude_spectrum(x, {.detrend = true});
  CHECK((of_line - detrended).cwiseAbs().maxCoeff() <= 64 * eps * x.norm());
  CHECK(amplitude_spectrum(Matrix(Matrix::Constant(1, 2, 4.0)), {.detrend = true}).maxCoeff() == 0.0);
}

TEST_CASE("spectra of a view, of nothing, and of what cannot be transformed") {
  const Matrix x = random_columns(20, 6, 1);
  const Matrix part = x.middleCols(2, 3);
  CHECK(amplitude_spectrum(x.middleCols(2, 3)) == amplitude_spectrum(part));
  CHECK(amplitude_spectrum(Matrix(8, 0)).rows() == 5);
  CHECK_THROWS_WITH(amplitude_spectrum(Matrix(0, 4)),
                    ContainsSubstring("a Fourier transform: expected at least 1 row and a length no smaller,"));
  Matrix broken = x;
  broken(3, 3) = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_WITH(real_dft(Matrix(0, 4)),
                    ContainsSubstring("a Fourier transform: expected at least 1 row and a length no smaller,"));
  CHECK_THROWS_WITH(real_dft(broken), ContainsSubstring("a Fourier transform: an entry is not finite"));
  CHECK_THROWS_WITH(amplitude_spectrum(broken), ContainsSubstring("a Fourier transform: an entry is not finite"));
  CHECK_THROWS_WITH(real_dft(broken), ContainsSubstring("not finite"));
}

TEST_CASE("transforms on several threads give the same digits, of more shapes than plans are kept for") {
  constexpr Index shapes = 90;
  std::vector<Matrix> inputs, expected, found(shapes);
  for (Index i = 0; i < shapes; ++i) {
    inputs.push_back(random_columns(64 + i, 9, static_cast<std::uint64_t>(i)));
    expected.push_back(amplitude_spectrum(inputs.back()));
  }
  parallel_for(shapes, 4, [&](Index i) {
    found[static_cast<std::size_t>(i)] = amplitude_spectrum(inputs[static_cast<std::size_t>(i)]);
  });
  for (std::size_t i = 0; i < found.size(); ++i) CHECK(found[i] == expected[i]);
}
