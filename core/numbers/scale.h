#pragma once

#include <cmath>

namespace headwave {

/// A power of two near the largest absolute value, so that dividing by it does not round; 1 if that value is 0.
inline double scale_of(double largest) {
  return largest > 0 ? std::exp2(std::ilogb(largest)) : 1.0;
}

}  // namespace headwave
