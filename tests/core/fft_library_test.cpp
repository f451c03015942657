#include "../../core/numbers/fft_library.h"

#include "../../core/numbers/random.h"
#include "../catch.h"
#include "../reference/direct_dft.h"
#include "../test_numbers.h"

using namespace headwave;

namespace {

constexpr Index lengths[] = {1,   2,   3,   4,   5,   6,    8,    15,   53,   97,   194,
                             257, 360, 388, 512, 997, 1000, 1009, 2018, 4096, 8191, 8192};

MatrixC random_spectra(Index rows, Index columns, std::uint64_t seed) {
  Random random(seed);
  return MatrixC::NullaryExpr(rows, columns, [&] { return std::complex<double>(random.normal(), random.normal()); });
}

/// Largest difference, in units of the largest absolute value.
template <class A, class B>
double difference(const A& found, const B& expected) {
  return (found - expected).cwiseAbs().maxCoeff() / expected.cwiseAbs().maxCoeff();
}

}  // namespace

TEST_CASE("the FFT of Eigen agrees with a direct sum at every length", "[long]") {
  const FftLibrary& eigen = eigen_fft_library();
  for (const Index length : lengths) {
    if (length > 2048) continue;  // a direct sum takes T^2 steps
    INFO("T = " << length);
    const MatrixC x = random_spectra(length, 3, static_cast<std::uint64_t>(length));
    const double tolerance = 4.0 * eps * std::log2(2.0 * static_cast<double>(length)) * x.norm();
    const Matrix sequences = x.real().transpose();
    MatrixC half(3, length / 2 + 1);
    eigen.real_to_half(sequences, half);
    const MatrixC real = x.real().cast<std::complex<double>>();
    CHECK((half.transpose() - direct_dft(real, length / 2 + 1)).cwiseAbs().maxCoeff() <= tolerance);

    Matrix back(3, length);
    eigen.half_to_real(half, back);
    CHECK((back / static_cast<double>(length) - sequences).cwiseAbs().maxCoeff() <= tolerance);
  }
}

TEST_CASE("FFTW and the FFT of Eigen agree to 1e-12 of the largest value") {
  if (fftw_library() == nullptr) {
    std::puts("skipped: built without FFTW");
    SUCCEED("skipped");
    return;
  }
  const FftLibrary &fftw = *fftw_library(), &eigen = eigen_fft_library();
  for (const Index length : lengths) {
    INFO("T = " << length);
    const Matrix sequences = random_spectra(length, 5, static_cast<std::uint64_t>(length)).real().transpose();
    MatrixC half_of_fftw(5, length / 2 + 1), half_of_eigen = half_of_fftw;
    fftw.real_to_half(sequences, half_of_fftw);
    eigen.real_to_half(sequences, half_of_eigen);
    CHECK(difference(half_of_eigen, half_of_fftw) <= 1e-12);

    // Imaginary parts at f = 0 and T/2, which both ignore.
    MatrixC half = random_spectra(5, length / 2 + 1, 7), same = half;
    Matrix real_of_fftw(5, length), real_of_eigen(5, length);
    fftw.half_to_real(half, real_of_fftw);
    eigen.half_to_real(same, real_of_eigen);
    CHECK(difference(real_of_eigen, real_of_fftw) <= 1e-12);
  }
}
