#include "palette.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

namespace headwave {

namespace {

constexpr std::array<std::uint32_t, 8> okabe_ito{0x0072B2, 0xD55E00, 0x009E73, 0xCC79A7,
                                                 0xE69F00, 0x56B4E9, 0x000000, 0xF0E442};

constexpr std::array<std::uint32_t, 10> viridis{0x440154, 0x482878, 0x3E4989, 0x31688E, 0x26828E,
                                                0x1F9E89, 0x35B779, 0x6DCD59, 0xB4DE2C, 0xFDE725};

/// One byte of a colour: 0 red, 1 green, 2 blue.
int part_of(std::uint32_t color, unsigned part) {
  return static_cast<int>(color >> (16U - 8U * part) & 0xFFU);
}

}  // namespace

Ink categorical(Index i) {
  return Ink{okabe_ito[static_cast<std::size_t>(i) % okabe_ito.size()]};
}

Ink text_on(Ink ink) {
  // Relative luminance: weights of sRGB, with 2.2 for its exponent.
  constexpr std::array weights{0.2126, 0.7152, 0.0722};
  double luminance = 0;
  for (unsigned part = 0; part < 3; ++part)
    luminance += weights[part] * std::pow(part_of(static_cast<std::uint32_t>(ink), part) / 255.0, 2.2);
  return luminance > 0.18 ? ink::text : ink::paper;  // where black and white contrast equally (WCAG)
}

std::string color_of(Ink ink) {
  const auto color = static_cast<std::uint32_t>(ink);
  return color > 0xFFFFFF ? fmt::format("#{:08X}", color) : fmt::format("#{:06X}", color);
}

std::string sequential_palette() {
  std::string stops;
  for (std::size_t i = 0; i < viridis.size(); ++i)
    stops += fmt::format("{}{} \"#{:06X}\"", i == 0 ? "" : ", ", i, viridis[i]);
  return "set palette defined (" + stops + ")";
}

std::string step_palette(Index steps) {
  std::string list;
  for (Index step = 0; step < steps; ++step) {
    const double place = 7.8 * static_cast<double>(step) / static_cast<double>(std::max<Index>(1, steps - 1));
    const auto below = std::min<std::size_t>(static_cast<std::size_t>(place), 7);
    std::uint32_t color = 0;
    for (unsigned part = 0; part < 3; ++part)
      color = color << 8U | static_cast<std::uint32_t>(
                                std::lround(std::lerp(part_of(viridis[below], part), part_of(viridis[below + 1], part),
                                                      place - static_cast<double>(below))));
    list += fmt::format("{0}{1} \"#{3:06X}\", {2} \"#{3:06X}\"", step == 0 ? "" : ", ", step, step + 1, color);
  }
  return "set palette defined (" + list + ")";
}

}  // namespace headwave
