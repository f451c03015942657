#pragma once

#include <cmath>

namespace headwave {

/// A power of two near a largest absolute value, by which numbers are divided without rounding; 1 where that value is 0.
inline double scale_of(double largest) {
  return largest > 0 ? std::exp2(std::ilogb(largest)) : 1.0;
}

}  // namespace headwave
