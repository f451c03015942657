#pragma once

#include "../numbers/matrix.h"

namespace headwave {

/// interleaved: sine and cosine of a frequency side by side (the paper); concatenated: all sines, then all
/// cosines.
enum class SinusoidLayout { interleaved, concatenated };

struct SinusoidOptions {
  SinusoidLayout layout = SinusoidLayout::interleaved;
  double base = 10000;
  Index first = 0;  ///< position of token 0
  bool last_is_base =
      false;  ///< the slowest frequency is exactly 1/base (tensor2tensor's spacing), not one step faster
};

/// The original Transformer's position table.
///
///     PE(n, sine i)   = sin(n w_i),   PE(n, cosine i) = cos(n w_i)                            (1)
///     w_i = base^(-2i/d), i = 0 .. d/2 - 1                                                    (2)
///
/// Source: Vaswani et al. 2017, section 3.5.
/// @param d_model  d, even
/// @returns (length, d)
/// @throws ShapeError if d is odd or below 2
Matrix32 sinusoids(Index length, Index d_model, const SinusoidOptions& options = {});

}  // namespace headwave
