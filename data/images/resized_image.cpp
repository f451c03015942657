#include "resized_image.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

namespace headwave {

namespace {

constexpr int precision_bits = 22;

double support_of(Resampling resampling) {
  return resampling == Resampling::bilinear ? 1 : resampling == Resampling::bicubic ? 2 : 3;
}

double sinc(double x) {
  return x == 0 ? 1 : std::sin(std::numbers::pi * x) / (std::numbers::pi * x);
}

double filter(Resampling resampling, double at) {
  const double x = std::abs(at);
  if (x >= support_of(resampling)) return 0;
  switch (resampling) {
    case Resampling::bilinear:
      return 1 - x;
    case Resampling::bicubic:
      return x < 1 ? (1.5 * x - 2.5) * x * x + 1 : -0.5 * (((x - 5) * x + 8) * x - 4);
    default:
      return sinc(x) * sinc(x / 3);
  }
}

/// Of one new pixel: the old ones that it is made of, and their weights in fixed point.
struct Taps {
  Index first = 0;
  std::vector<std::int32_t> weights;
};

/// Equation (2), for every pixel of a side.
std::vector<Taps> taps_of(Index before, Index after, Resampling resampling) {
  const double scale = static_cast<double>(before) / static_cast<double>(after);
  const double stretch = std::max(scale, 1.0), support = support_of(resampling) * stretch;
  std::vector<Taps> all(static_cast<std::size_t>(after));
  std::vector<double> weights;
  for (Index x = 0; x < after; ++x) {
    const double center = (static_cast<double>(x) + 0.5) * scale;
    Taps& taps = all[static_cast<std::size_t>(x)];
    taps.first = std::max<Index>(0, static_cast<Index>(std::floor(center - support + 0.5)));
    const Index end = std::min(before, static_cast<Index>(std::floor(center + support + 0.5)));
    weights.clear();
    double sum = 0;
    for (Index i = taps.first; i < end; ++i) {
      weights.push_back(filter(resampling, (static_cast<double>(i) - center + 0.5) * (1 / stretch)));
      sum += weights.back();
    }
    for (const double weight : weights) {
      const double fixed = (sum != 0 ? weight / sum : weight) * (1 << precision_bits);
      taps.weights.push_back(static_cast<std::int32_t>(fixed < 0 ? fixed - 0.5 : fixed + 0.5));
    }
  }
  return all;
}

/// Equation (1) at one pixel and channel.
/// @param apart  bytes from one old pixel to the next
std::uint8_t mixed(const Taps& taps, const std::uint8_t* first, Index apart) {
  std::int32_t sum = 1 << (precision_bits - 1);
  for (const std::int32_t weight : taps.weights) {
    sum += weight * *first;
    first += apart;
  }
  return static_cast<std::uint8_t>(std::clamp(sum >> precision_bits, 0, 255));
}

Image with_width(const Image& image, Index width, Resampling resampling) {
  const std::vector<Taps> taps = taps_of(image.width, width, resampling);
  Image result = Image::of(image.height, width);
  for (Index y = 0; y < image.height; ++y)
    for (Index x = 0; x < width; ++x)
      for (Index channel = 0; channel < 3; ++channel) {
        const Taps& here = taps[static_cast<std::size_t>(x)];
        result.row(y)[3 * x + channel] = mixed(here, image.row(y) + 3 * here.first + channel, 3);
      }
  return result;
}

Image with_height(const Image& image, Index height, Resampling resampling) {
  const std::vector<Taps> taps = taps_of(image.height, height, resampling);
  Image result = Image::of(height, image.width);
  for (Index y = 0; y < height; ++y) {
    const Taps& here = taps[static_cast<std::size_t>(y)];
    for (Index at = 0; at < 3 * image.width; ++at)
      result.row(y)[at] = mixed(here, image.row(here.first) + at, 3 * image.width);
  }
  return result;
}

}  // namespace

Image resized(const Image& image, Index height, Index width, Resampling resampling) {
  const Index shorter = image.height - height, narrower = image.width - width;
  const bool columns_first = shorter > 0 && shorter > 2 * narrower;
  Image result = image;
  for (const bool along_columns : {columns_first, !columns_first}) {
    if (along_columns && height != image.height) result = with_height(result, height, resampling);
    if (!along_columns && width != image.width) result = with_width(result, width, resampling);
  }
  return result;
}

}  // namespace headwave
