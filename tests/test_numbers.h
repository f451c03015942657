#pragma once

// Numbers that the tests of several rooms use.

#include <cstdint>
#include <limits>

#include "../core/numbers/matrix.h"
#include "../core/numbers/random.h"

inline constexpr double eps = std::numeric_limits<double>::epsilon();
inline constexpr double float_eps = std::numeric_limits<float>::epsilon();

/// (rows x cols) of standard normal numbers, drawn along the rows.
inline headwave::Matrix random_matrix(headwave::Index rows, headwave::Index cols, std::uint64_t seed) {
  headwave::Random random(seed);
  headwave::Matrix matrix(rows, cols);
  for (headwave::Index i = 0; i < matrix.size(); ++i) matrix.data()[i] = random.normal();
  return matrix;
}
