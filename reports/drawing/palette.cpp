#include "palette.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

namespace headwave {

namespace {

constexpr std::array okabe_ito{Ink{0x0072B2, 0x303030}, Ink{0xD55E00, 0x6E6E6E}, Ink{0x009E73, 0x505050},
                               Ink{0xCC79A7, 0x8E8E8E}, Ink{0xE69F00, 0xC0C0C0}, Ink{0x56B4E9, 0xA8A8A8},
                               Ink{0x000000, 0x000000}, Ink{0xF0E442, 0xE0E0E0}};

using ColorMap = std::array<std::uint32_t, 10>;  // amounts, evenly spaced

constexpr std::array color_maps{
    ColorMap{0x440154, 0x482878, 0x3E4989, 0x31688E, 0x26828E, 0x1F9E89, 0x35B779, 0x6DCD59, 0xB4DE2C,
             0xFDE725},  // viridis
    ColorMap{0x101010, 0x292929, 0x434343, 0x5C5C5C, 0x767676, 0x8F8F8F, 0xA8A8A8, 0xC2C2C2, 0xDBDBDB,
             0xF5F5F5},  // grey
};

const ColorMap& color_map(const FigureStyle& style) {
  return color_maps[style.palette == "grey" ? 1 : 0];
}

/// One of the three bytes of a colour: 0 red, 1 green, 2 blue.
int part_of(std::uint32_t color, unsigned part) {
  return static_cast<int>(color >> (16U - 8U * part) & 0xFFU);
}

}  // namespace

const std::vector<std::string>& palette_names() {
  static const std::vector<std::string> names{"viridis", "grey"};
  return names;
}

Ink categorical(Index i) {
  return okabe_ito[static_cast<std::size_t>(i) % okabe_ito.size()];
}

Ink text_on(const Ink& ink) {
  // Between the contrast ratios to white and to black, of luminance by the sRGB weights.
  const auto on = [](std::uint32_t color) -> std::uint32_t {
    double luminance = 0;
    for (const auto& [shift, weight] : {std::pair(16U, 0.2126), std::pair(8U, 0.7152), std::pair(0U, 0.0722)})
      luminance += weight * std::pow(static_cast<double>((color >> shift) & 0xFFU) / 255, 2.2);
    return luminance > 0.25 ? 0x000000 : 0xFFFFFF;
  };
  return {on(ink.color), on(ink.grey)};
}

std::string color_of(const Ink& ink, const FigureStyle& style) {
  const std::uint32_t color = style.palette == "grey" ? ink.grey : ink.color;
  return color > 0xFFFFFF ? fmt::format("#{:08X}", color) : fmt::format("#{:06X}", color);
}

std::string sequential_palette(const FigureStyle& style) {
  std::string stops;
  const ColorMap& map = color_map(style);
  for (std::size_t i = 0; i < map.size(); ++i) stops += fmt::format("{}{} \"#{:06X}\"", i == 0 ? "" : ", ", i, map[i]);
  return "set palette defined (" + stops + ")";
}

std::string step_palette(const FigureStyle& style, Index steps) {
  const auto& stops = color_map(style);
  std::string list;
  for (Index step = 0; step < steps; ++step) {
    const double place = 7.8 * static_cast<double>(step) / static_cast<double>(std::max<Index>(1, steps - 1));
    const auto below = std::min<std::size_t>(static_cast<std::size_t>(place), 7);
    std::uint32_t color = 0;
    for (unsigned part = 0; part < 3; ++part)
      color = color << 8U |
              static_cast<std::uint32_t>(std::lround(std::lerp(
                  part_of(stops[below], part), part_of(stops[below + 1], part), place - static_cast<double>(below))));
    list += fmt::format("{0}{1} \"#{3:06X}\", {2} \"#{3:06X}\"", step == 0 ? "" : ", ", step, step + 1, color);
  }
  return "set palette defined (" + list + ")";
}

}  // namespace headwave
