#include "mxfp4.h"

#include <array>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "../../core/errors/error.h"

namespace headwave {

void put_mxfp4(std::span<const std::byte> codes, std::span<const std::byte> scales, std::span<float> into) {
  constexpr std::array<float, 16> values{0.0F,  0.5F,  1.0F,  1.5F,  2.0F,  3.0F,  4.0F,  6.0F,
                                         -0.0F, -0.5F, -1.0F, -1.5F, -2.0F, -3.0F, -4.0F, -6.0F};
  constexpr std::size_t bytes = mxfp4_block / 2;
  constexpr unsigned no_number = 255, lower = 0x0FU;
  if (codes.size() != scales.size() * bytes || into.size() != scales.size() * mxfp4_block)
    throw ShapeError(fmt::format(
        "put_mxfp4: found {} bytes of codes and {} floats for {} scales; expected 16 bytes and 32 floats for each",
        codes.size(), into.size(), scales.size()));
  for (std::size_t block = 0; block < scales.size(); ++block) {
    const auto exponent = std::to_integer<unsigned>(scales[block]);
    const float scale = exponent == no_number ? std::numeric_limits<float>::quiet_NaN()
                                              : std::ldexp(1.0F, static_cast<int>(exponent) - 127);
    for (std::size_t i = 0; i < bytes; ++i) {
      const auto both = std::to_integer<unsigned>(codes[block * bytes + i]);
      into[block * mxfp4_block + 2 * i] = values[both & lower] * scale;
      into[block * mxfp4_block + 2 * i + 1] = values[both >> 4U] * scale;
    }
  }
}

}  // namespace headwave
