#pragma once

#include <cstdint>

#include "image.h"

namespace headwave {

/// How a new pixel is made of old ones; numbered as Pillow numbers them.
enum class Resampling : std::uint8_t { lanczos = 1, bilinear = 2, bicubic = 3 };

/// An image of another size, to the bit what Pillow's resize() gives.
///
///     new[x] = clip((2^21 + sum_i k_i old[i]) >> 22),   k_i = round(2^22 w_i / sum w)           (1)
///     w_i = f((i + 1/2 - (x + 1/2) s) / max(s, 1)),   s = old size / new size                   (2)
///
/// along rows first and then along columns, 8 bits between; but along columns first where the height shrinks, by more than
/// twice as many pixels as the width, as Pillow does since 13.0 (before, always along rows first). f is the triangle of width 2 (bilinear), Keys' cubic with
/// a = -1/2 (bicubic), or sinc(x) sinc(x / 3) (lanczos); where an image shrinks f is stretched, so nothing is skipped
/// (antialiasing). Along a side that stays as long as it was nothing is done.
///
/// Source: Keys 1981, doi:10.1109/TASSP.1981.1163711; Pillow 13.0, whose rounding (1) is.
/// @param height, width  at least 1, at most most_pixels together
Image resized(const Image& image, Index height, Index width, Resampling resampling);

}  // namespace headwave
