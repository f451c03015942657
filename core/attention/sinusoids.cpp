#include "sinusoids.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace headwave {

Matrix32 sinusoids(Index length, Index d_model, const SinusoidOptions& options) {
  if (d_model < 2 || d_model % 2 != 0)
    throw ShapeError(fmt::format("sinusoids: width {} has no pairs of sine and cosine; expected an even one", d_model));
  const Index half = d_model / 2;
  const Index steps = options.last_is_base ? std::max<Index>(1, half - 1) : half;
  const bool interleaved = options.layout == SinusoidLayout::interleaved;
  Matrix32 table(length, d_model);
  for (Index i = 0; i < half; ++i) {
    const double frequency = std::pow(options.base, -static_cast<double>(i) / static_cast<double>(steps));
    const Index sine = interleaved ? 2 * i : i;
    const Index cosine = interleaved ? sine + 1 : half + i;
    for (Index n = 0; n < length; ++n) {
      const double angle = static_cast<double>(options.first + n) * frequency;
      table(n, sine) = static_cast<float>(std::sin(angle));
      table(n, cosine) = static_cast<float>(std::cos(angle));
    }
  }
  return table;
}

}  // namespace headwave
