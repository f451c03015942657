#include "palette.h"

#include <array>
#include <cmath>
#include <vector>

#include <fmt/format.h>

namespace headwave {

namespace {

struct Color {
  int red, green, blue;
};

constexpr std::array okabe_ito{Color{0x00, 0x72, 0xB2}, Color{0xD5, 0x5E, 0x00}, Color{0x00, 0x9E, 0x73},
                               Color{0xCC, 0x79, 0xA7}, Color{0xE6, 0x9F, 0x00}, Color{0x56, 0xB4, 0xE9},
                               Color{0x00, 0x00, 0x00}, Color{0xF0, 0xE4, 0x42}};

std::string palette(const std::vector<std::string>& colors) {
  std::string stops;
  for (std::size_t i = 0; i < colors.size(); ++i) stops += fmt::format("{}{} \"{}\"", i == 0 ? "" : ", ", i, colors[i]);
  return "set palette defined (" + stops + ")";
}

}  // namespace

std::string categorical_color(Index i) {
  const auto n = static_cast<std::size_t>(i);
  const Color& color = okabe_ito[n % okabe_ito.size()];
  const std::size_t round = n / okabe_ito.size() % 3;  // as it is, half way to white, half way to black
  const auto part = [round](int value) { return round == 0 ? value : round == 1 ? (value + 255) / 2 : value / 2; };
  return fmt::format("#{:02X}{:02X}{:02X}", part(color.red), part(color.green), part(color.blue));
}

std::string line_style(Index i, double width) {
  constexpr std::array dashes{"solid", "\"_\"", "\"-\"", "\"_.\"", "\".\""};
  constexpr std::array points{7, 5, 13, 6, 4, 12, 2, 1};
  const auto n = static_cast<std::size_t>(i);
  return fmt::format("lc rgb \"{}\" lw {} dt {} pt {}", categorical_color(i), width,
                     dashes[(n + n / okabe_ito.size()) % dashes.size()], points[n % points.size()]);
}

std::string sequential_palette() {
  return palette(
      {"#440154", "#482878", "#3E4989", "#31688E", "#26828E", "#1F9E89", "#35B779", "#6DCD59", "#B4DE2C", "#FDE725"});
}

std::string diverging_palette() {
  return palette({"#00395A", "#0072B2", "#7FB8D8", "#FFFFFF", "#EAAE7F", "#D55E00", "#6B2F00"});
}

std::string cyclic_palette() {
  return palette({"#2F1436", "#5C3A94", "#6F9BC4", "#E8E4E8", "#D19A7C", "#93384A", "#2F1436"});
}

std::string symmetric_range(double largest) {
  const double bound = std::isfinite(largest) && largest > 0 ? largest : 1.0;
  return fmt::format("set cbrange [{}:{}]", -bound, bound);
}

}  // namespace headwave
