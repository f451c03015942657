#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "matrix.h"

namespace headwave {

/// A seeded source of random numbers that are the same on every platform, compiler and standard library.
///
/// The generator is xoshiro256**, whose state splitmix64 fills from the seed. Draws use only integer
/// arithmetic and operations that IEEE 754 rounds exactly, so no digit depends on a mathematics library. Not
/// for secrets.
///
/// Source: Blackman and Vigna 2021, doi:10.1145/3460772 (generator); Steele, Lea and Flood 2014,
/// doi:10.1145/2714064.2660195 (seeding); Marsaglia and Bray 1964, doi:10.1137/1006063 (normal numbers).
class Random {
 public:
  explicit Random(std::uint64_t seed);

  /// A child generator, independent of its parent and of other children. It depends only on the seed and the
  /// number, not on earlier draws. Give each piece of parallel work its own child.
  [[nodiscard]] Random stream(std::uint64_t number) const;

  /// 64 random bits.
  std::uint64_t bits();

  /// A number in [0, 1), a multiple of 2^-53.
  double uniform();

  /// A random integer from 0 to n - 1; all are exactly equally likely.
  /// @throws NumericError if n < 1
  Index below(Index n);

  /// A normal number with mean 0 and standard deviation 1.
  double normal();

  /// Shuffles the items. All orders are equally likely.
  void shuffle(std::span<Index> items);

 private:
  std::uint64_t seed_;
  std::array<std::uint64_t, 4> state_{};
};

}  // namespace headwave
