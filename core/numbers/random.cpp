#include "random.h"

#include <bit>
#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace headwave {

namespace {

constexpr std::uint64_t golden_ratio = 0x9e3779b97f4a7c15U;

// The output function of splitmix64: a bijection of 64 bits that scatters neighbours.
std::uint64_t scattered(std::uint64_t word) {
  word = (word ^ (word >> 30U)) * 0xbf58476d1ce4e5b9U;
  word = (word ^ (word >> 27U)) * 0x94d049bb133111ebU;
  return word ^ (word >> 31U);
}

// log(x) for normal x > 0. Mathematics libraries differ in the last digit, so the series is summed here: x =
// m 2^e with m near 1, log m = 2 artanh z with z = (m - 1)/(m + 1), |z| < 0.172, and z^23/23 < 2^-62. Every
// multiply-add is written as std::fma, so compilers have none to contract.
double portable_log(double x) {
  constexpr double log_2 = 0.693147180559945309417;
  constexpr double root_half = 0.707106781186547524401;
  int exponent = 0;
  double mantissa = std::frexp(x, &exponent);
  if (mantissa < root_half) {
    mantissa *= 2.0;
    --exponent;
  }
  const double z = (mantissa - 1.0) / (mantissa + 1.0);
  const double z2 = z * z;
  double series = 1.0 / 23.0;
  for (int odd = 21; odd >= 1; odd -= 2) series = std::fma(series, z2, 1.0 / odd);
  return std::fma(static_cast<double>(exponent), log_2, 2.0 * (z * series));
}

}  // namespace

Random::Random(std::uint64_t seed) : seed_(seed) {
  std::uint64_t counter = seed;
  for (std::uint64_t& word : state_) {
    counter += golden_ratio;
    word = scattered(counter);
  }
}

Random Random::stream(std::uint64_t number) const {
  // Scattered twice: with a plain sum, neighbouring seeds would share streams.
  return Random(scattered(scattered(seed_ ^ 0x68656164U) + golden_ratio * (number + 1)));
}

std::uint64_t Random::bits() {
  const std::uint64_t result = std::rotl(state_[1] * 5U, 7) * 9U;
  const std::uint64_t shifted = state_[1] << 17U;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= shifted;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

double Random::uniform() {
  return static_cast<double>(bits() >> 11U) * 0x1.0p-53;
}

Index Random::below(Index n) {
  if (n < 1) throw NumericError(fmt::format("Random::below: expected n >= 1, found {}", n));
  const auto range = static_cast<std::uint64_t>(n);
  // There are 2^64 mod n words too many. Redrawing those below it makes all remainders equally likely.
  const std::uint64_t surplus = (0 - range) % range;
  std::uint64_t word = bits();
  while (word < surplus) word = bits();
  return static_cast<Index>(word % range);
}

double Random::normal() {
  for (;;) {
    const double u = std::fma(2.0, uniform(), -1.0);
    const double v = std::fma(2.0, uniform(), -1.0);
    const double radius2 = std::fma(u, u, v * v);
    if (radius2 < 1.0 && radius2 > 0.0) return u * std::sqrt(-2.0 * portable_log(radius2) / radius2);
  }
}

void Random::shuffle(std::span<Index> items) {
  for (std::size_t last = items.size(); last > 1; --last)
    std::swap(items[last - 1], items[static_cast<std::size_t>(below(static_cast<Index>(last)))]);
}

}  // namespace headwave
