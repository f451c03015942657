#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../../core/numbers/matrix.h"

namespace headwave {

/// Red, green and blue of every pixel, 8 bits each, rows from the top.
struct Image {
  Index height = 0, width = 0;
  std::vector<std::uint8_t> pixels;  ///< (height, width, 3)

  /// All black.
  static Image of(Index height, Index width) {
    return {height, width, std::vector<std::uint8_t>(static_cast<std::size_t>(3 * height * width))};
  }
  [[nodiscard]] std::uint8_t* row(Index y) { return pixels.data() + 3 * width * y; }
  [[nodiscard]] const std::uint8_t* row(Index y) const { return pixels.data() + 3 * width * y; }
};

struct ImageSize {
  Index height = 0, width = 0;
};

/// Larger images are refused before memory is taken for them: a file of a few bytes can ask for any size.
constexpr Index most_pixels = Index{1} << 26U;

}  // namespace headwave
