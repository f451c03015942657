#include "../../reports/drawing/palette.h"

#include <cmath>
#include <set>

#include "../../reports/drawing/panels.h"
#include "../catch.h"

using namespace headwave;

TEST_CASE("palette: eight colours, and styles that differ without colour") {
  std::set<std::string> colors;
  for (Index i = 0; i < 8; ++i) colors.insert(categorical_color(i));
  CHECK(colors.size() == 8);
  CHECK(categorical_color(0) == "#0072B2");
  CHECK(categorical_color(8) == "#7FB8D8");
  CHECK(categorical_color(16) == "#003959");
  CHECK(categorical_color(24) == categorical_color(0));

  std::set<std::string> without_color;
  std::set<std::string> styles;
  for (Index i = 0; i < 16; ++i) {
    const std::string style = line_style(i);
    styles.insert(style);
    if (i < 8) without_color.insert(style.substr(style.find("lw")));
  }
  CHECK(styles.size() == 16);  // colours come again, with another dash
  CHECK(without_color.size() == 8);
}

TEST_CASE("palette: angles close up, and zero is in the middle of signed numbers") {
  const std::string cyclic = cyclic_palette();
  const std::string first = cyclic.substr(cyclic.find('#'), 7);
  CHECK(cyclic.rfind(first) != cyclic.find(first));
  CHECK(cyclic.rfind(first) + 9 == cyclic.size());
  CHECK(diverging_palette().find("3 \"#FFFFFF\"") != std::string::npos);  // stop 3 of 0..6
  CHECK(symmetric_range(0.25) == "set cbrange [-0.25:0.25]");
  CHECK(symmetric_range(0) == "set cbrange [-1:1]");
  CHECK(sequential_palette().find("#440154") != std::string::npos);
}

TEST_CASE("panels: margins of a grid are fractions of the page, row 0 on top") {
  const PanelGrid grid{2, 2, 2.0, 1.0, 0.5, 0.25, 1.0, 0.5, 0.25, 0.5};
  CHECK(grid.width() == Approx(6.0).epsilon(1e-15));
  CHECK(grid.height() == Approx(3.0).epsilon(1e-15));
  CHECK(grid.place(0, 1) ==
        "set lmargin at screen 0.583333\nset rmargin at screen 0.916667\n"
        "set bmargin at screen 0.583333\nset tmargin at screen 0.916667");
  CHECK(grid.place(1, 0).find("set bmargin at screen 0.166667") != std::string::npos);
}

TEST_CASE("panels: a range shows zero and every finite number, and is never empty") {
  const ValueRange range = range_with_zero({1.0, 2.0, std::nan("")});
  CHECK(range.low == 0);
  CHECK(range.high == Approx(2.14).epsilon(1e-14));
  CHECK(range_with_zero({-1.0, 1.0}).low == Approx(-1.14).epsilon(1e-14));
  for (const auto& values : {std::vector<double>{}, {0.0}, {std::nan("")}})
    CHECK(range_with_zero(values).high > range_with_zero(values).low);
}

TEST_CASE("panels: tics stand at round numbers") {
  CHECK(tic_step(1.0) == Approx(0.2).epsilon(1e-14));
  CHECK(tic_step(0.041) == Approx(0.01).epsilon(1e-14));
  CHECK(tic_step(180) == Approx(50).epsilon(1e-14));
  for (const double range : {1e-6, 0.3, 0.87, 1.0, 7.0, 5e8}) {
    CHECK(range / tic_step(range) >= 2);
    CHECK(range / tic_step(range) <= 8);
  }
}
