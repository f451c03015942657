#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>
#include <optional>

#include <fmt/format.h>
#include <unsupported/Eigen/FFT>

#include "fft_library.h"

namespace headwave {

namespace {

using ComplexVector = VectorOf<std::complex<double>>;

Index largest_prime_factor(Index n) {
  Index largest = 1;
  for (Index p = 2; p * p <= n; ++p)
    for (; n % p == 0; n /= p) largest = p;
  return std::max(largest, n);
}

/// The smallest product of 2, 3 and 5 that is at least `least`.
Index smooth_length(Index least) {
  Index best = std::numeric_limits<Index>::max();
  for (Index fives = 1; fives < best; fives *= 5)
    for (Index threes = fives; threes < best; threes *= 3) {
      Index length = threes;
      while (length < least) length *= 2;
      best = std::min(best, length);
      if (threes >= least) break;
    }
  return best;
}

/// Transforms of one length. Each thread has its own, since Eigen's module keeps scratch beside its tables.
class EigenTransform {
 public:
  explicit EigenTransform(Index length) : length_(length), by_chirp_(largest_prime_factor(length) > largest_direct) {
    fft_.SetFlag(Fft::Unscaled);
    fft_.SetFlag(Fft::HalfSpectrum);
    if (by_chirp_) prepare_chirp();
  }

  [[nodiscard]] Index length() const { return length_; }

  void real_to_half(const double* from, std::complex<double>* to) {
    if (length_ > 1 && !by_chirp_) return fft_.fwd(to, from, length_);
    sequence_ = Eigen::Map<const Vector>(from, length_).cast<std::complex<double>>();
    transform_sequence();
    std::copy_n(transformed_.data(), length_ / 2 + 1, to);
  }

  void half_to_real(const std::complex<double>* from, double* to) {
    if (length_ > 1 && !by_chirp_) return fft_.inv(to, from, length_);
    // The conjugate of a real sequence is the sequence itself, so the transform of conj(F) is its inverse.
    sequence_.resize(length_);
    for (Index f = 0; f <= length_ / 2; ++f) {
      sequence_[f] = std::conj(from[f]);
      if (f > 0) sequence_[length_ - f] = from[f];
    }
    transform_sequence();
    Eigen::Map<Vector>(to, length_) = transformed_.real();
  }

 private:
  using Fft = Eigen::FFT<double>;
  static constexpr Index largest_direct = 50;  // above this prime factor the chirp is faster (measured)

  void prepare_chirp() {
    const Index padded = smooth_length(2 * length_ - 1);
    const double step = std::numbers::pi / static_cast<double>(length_);
    chirp_.resize(length_);
    for (Index n = 0; n < length_; ++n)  // n^2 modulo 2 T, since large angles lose digits
      chirp_[n] = std::polar(1.0, -step * static_cast<double>(n * n % (2 * length_)));
    ComplexVector kernel = ComplexVector::Zero(padded);
    kernel.head(length_) = chirp_.conjugate();
    for (Index n = 1; n < length_; ++n) kernel[padded - n] = kernel[n];
    kernel_.resize(padded);
    fft_.fwd(kernel_.data(), kernel.data(), padded);
    kernel_ /= static_cast<double>(padded);
    product_ = ComplexVector::Zero(padded);
    spectrum_.resize(padded);
  }

  /// Equation (1) of eigen_fft_library(); a sequence of one is its own transform.
  void transform_sequence() {
    transformed_ = sequence_;
    if (length_ == 1) return;
    const Index padded = kernel_.size();
    product_.head(length_) = sequence_.cwiseProduct(chirp_);
    product_.tail(padded - length_).setZero();
    fft_.fwd(spectrum_.data(), product_.data(), padded);
    spectrum_ = spectrum_.cwiseProduct(kernel_);
    fft_.inv(product_.data(), spectrum_.data(), padded);
    transformed_ = product_.head(length_).cwiseProduct(chirp_);
  }

  Index length_;
  bool by_chirp_;
  Fft fft_;
  ComplexVector chirp_, kernel_;
  ComplexVector product_, spectrum_, sequence_, transformed_;  // scratch
};

/// This thread's transform of a length. Only the latest is kept: a job mostly transforms columns of one
/// length.
EigenTransform& eigen_transform(Index length) {
  thread_local std::optional<EigenTransform> latest;
  if (!latest || latest->length() != length) latest.emplace(length);
  return *latest;
}

void eigen_real_to_half(const Matrix& sequences, MatrixC& half) {
  EigenTransform& transform = eigen_transform(sequences.cols());
  for (Index s = 0; s < sequences.rows(); ++s) transform.real_to_half(sequences.row(s).data(), half.row(s).data());
}

void eigen_half_to_real(MatrixC& half, Matrix& sequences) {
  EigenTransform& transform = eigen_transform(sequences.cols());
  for (Index s = 0; s < sequences.rows(); ++s) transform.half_to_real(half.row(s).data(), sequences.row(s).data());
}

std::string eigen_fft_name() {
  return fmt::format("FFT of Eigen {}.{}.{}", EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION);
}

}  // namespace

const FftLibrary& eigen_fft_library() {
  static constexpr FftLibrary library{&eigen_fft_name, &eigen_real_to_half, &eigen_half_to_real};
  return library;
}

}  // namespace headwave
