#include "../../reports/drawing/palette.h"

#include <array>
#include <cmath>
#include <set>

#include "../../reports/drawing/panel.h"
#include "../catch.h"

using namespace headwave;

namespace {

/// CIELAB's lightness of "#RRGGBB", 0 to 100.
double lightness(const std::string& color) {
  double luminance = 0;
  const std::array<double, 3> weights{0.2126, 0.7152, 0.0722};
  for (std::size_t part = 0; part < 3; ++part) {
    const double value = std::stoi(color.substr(1 + 2 * part, 2), nullptr, 16) / 255.0;
    luminance += weights[part] * (value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4));
  }
  return luminance > 0.008856 ? 116 * std::cbrt(luminance) - 16 : 903.3 * luminance;
}

std::vector<std::string> colors_in(const std::string& words) {
  std::vector<std::string> colors;
  for (std::size_t at = words.find('#'); at != std::string::npos; at = words.find('#', at + 1))
    colors.push_back(words.substr(at, 7));
  return colors;
}

}  // namespace

TEST_CASE("palette: eight colours, and styles that differ without colour") {
  std::set<std::string> colors, without_color, styles;
  for (Index i = 0; i < 8; ++i) colors.insert(color_of(categorical(i)));
  CHECK(colors.size() == 8);
  CHECK(color_of(categorical(0)) == "#0072B2");
  CHECK(categorical(8) == categorical(0));
  for (Index i = 0; i < 16; ++i) {
    const std::string style = line_words(categorical_line(i, 1.8, 0.4));
    styles.insert(style);
    if (i < 8) without_color.insert(style.substr(style.find("lw")));
  }
  CHECK(styles.size() == 16);  // colours come again, with another dash
  CHECK(without_color.size() == 8);
}

TEST_CASE("palette: inks show through where they are said to") {
  CHECK(color_of(ink::guide) == "#60FFFFFF");
  CHECK(color_of(ink::mark) == "#D55E00");
}

TEST_CASE("palette: amounts become lighter by even steps") {
  const auto colors = colors_in(sequential_palette());
  REQUIRE(colors.size() == 10);
  const double even = (lightness(colors.back()) - lightness(colors.front())) / 9;
  CHECK(even > 7);
  for (std::size_t i = 1; i < colors.size(); ++i)
    CHECK(lightness(colors[i]) - lightness(colors[i - 1]) == Approx(even).epsilon(0.3));
}

TEST_CASE("palette: a colour for each step, none as light as paper") {
  for (const Index steps : {1, 2, 12, 127}) {
    INFO(steps);
    const auto colors = colors_in(step_palette(steps));
    REQUIRE(colors.size() == 2 * static_cast<std::size_t>(steps));  // where it begins and ends
    CHECK(lightness(colors.back()) < 86);
    for (std::size_t i = 2; i < colors.size(); i += 2) CHECK(lightness(colors[i]) > lightness(colors[i - 2]));
  }
  CHECK(colors_in(step_palette(12)).front() == "#440154");
}
