#include "../../reports/drawing/panel_grid.h"

#include <cmath>

#include "../../reports/drawing/page.h"
#include "../catch.h"

using namespace headwave;

TEST_CASE("panels: a grid's sizes, row 0 on top") {
  const PanelGrid grid{2, 2, 2.0, 1.0, 0.5, 0.25, 1.0, 0.5, 0.25, 0.5};
  CHECK(grid.width() == Approx(6.0).epsilon(1e-15));
  CHECK(grid.height() == Approx(3.0).epsilon(1e-15));
  Page page(grid, {});
  const std::string script = page.panel(0, 1).script();
  CHECK_THAT(script, ContainsSubstring("set lmargin at screen 0.583333\nset rmargin at screen 0.916667\n"
                                       "set bmargin at screen 0.583333\nset tmargin at screen 0.916667"));
  CHECK_THAT(page.panel(1, 0).script(), ContainsSubstring("set bmargin at screen 0.166667"));
}

TEST_CASE("panels: fewer in a row where a page is narrow, rows equally full, as wide as asked for") {
  PanelGrid grid;
  grid.panel.width = 2;
  grid.gap.x = 0.3;
  grid = flowing(grid, 6, 3);
  CHECK(grid.rows == 2);
  CHECK(fitted(grid, 6, 1.5, {}).columns == 3);
  for (const double width : {2.5, 3.4, 5.0, 7.0, 9.0}) {
    const PanelGrid fit = fitted(grid, 6, 1.5, {.width = width, .points = 8});
    INFO(width);
    CHECK(fit.width() == Approx(width).epsilon(1e-14));
    CHECK(fit.rows * fit.columns >= 6);
    CHECK((fit.columns == 1 || fit.panel.width >= 1.5));
    CHECK(fit.panel.height >= grid.panel.height);
  }
  CHECK(fitted(grid, 6, 1.5, {.width = 3.4}).columns == 1);
  CHECK(fitted(flowing(grid, 4, 3), 4, 1.5, {.width = 7}).columns == 2);  // not 3 and 1
}

TEST_CASE("panels: as many as a page holds in whole rows, one row at least") {
  const PanelFlow flow{.grid = {.panel = {2, 1}, .gap = {0.3, 0.5}, .margin = {.top = 0.5, .bottom = 0.5}},
                       .least = 1.5};
  CHECK(panels_that_fit(flow, 100, {}) == 100);
  CHECK(panels_that_fit(flow, 100, {.width = 3.4}) == 5);  // a column: 5 rows of 1.5 inches, 0.5 less and 1 more, in 9
  CHECK(panels_that_fit(flow, 100, {.width = 7}) == 15);
  CHECK(panels_that_fit(flow, 4, {.width = 7}) == 4);
  PanelFlow tall = flow;
  tall.grid.panel.height = 20;
  CHECK(panels_that_fit(tall, 100, {.width = 3.4}) == 1);
  tall.each = 2;
  CHECK(panels_that_fit(tall, 100, {.width = 3.4}) == 2);
  CHECK(layout_height({.width = 12}) * enlargement({.width = 12}) == Approx(6.75));  // of a slide
}

TEST_CASE("panels: every head has one of its own, whatever the width") {
  for (const double width : {0.0, 2.5, 3.4, 7.0, 12.0})
    for (const std::size_t heads : {1U, 5U, 12U, 16U}) {
      const FigureStyle style{.width = width};
      const HeadPanels grid = head_panels(3, heads, style);
      INFO(width << " " << heads);
      if (width > 0) CHECK(grid.width() == Approx(layout_width(style)).epsilon(1e-14));
      CHECK(grid.points >= 6);
      CHECK(grid.layers_left == (width >= 7 && heads == 12));  // 0.46 inches each: room for "H11" and a number
      std::vector<std::vector<int>> taken(grid.rows, std::vector<int>(grid.columns));
      for (std::size_t layer = 0; layer < 3; ++layer)
        for (std::size_t head = 0; head < heads; ++head)
          CHECK(++taken.at(grid.row(layer, head)).at(grid.column(head)) == 1);
    }
}

TEST_CASE("panels: a range shows zero and every finite number, and is never empty") {
  const ValueRange range = range_with_zero({1.0, 2.0, std::nan("")});
  CHECK(range.low == 0);
  CHECK(range.high == Approx(2.14).epsilon(1e-14));
  CHECK(range_with_zero({-1.0, 1.0}).low == Approx(-1.14).epsilon(1e-14));
  for (const auto& values : {std::vector<double>{}, {0.0}, {std::nan("")}}) {
    CHECK(range_with_zero(values).high > range_with_zero(values).low);
    CHECK(range_around(values, 0.1).high > range_around(values, 0.1).low);
  }
  CHECK(range_around({2.0, 4.0, std::nan("")}, 0.25).low == 1.5);
}

TEST_CASE("panels: tics stand at round numbers") {
  CHECK(tic_step(1.0) == Approx(0.2).epsilon(1e-14));
  CHECK(tic_step(0.041) == Approx(0.01).epsilon(1e-14));
  CHECK(tic_step(180) == Approx(50).epsilon(1e-14));
  for (const double range : {1e-6, 0.3, 0.87, 1.0, 7.0, 5e8}) {
    CHECK(range / tic_step(range) >= 2);
    CHECK(range / tic_step(range) <= 8);
  }
  const auto tics = round_tics({0.15, 3});
  REQUIRE(tics.size() == 4);
  CHECK(tics.front().name == "0.2");
  CHECK(tics.back().place == 2);
  for (const ValueRange narrow : {ValueRange{0.21, 0.49}, ValueRange{0.0311, 0.0362}, ValueRange{51, 99}}) {
    const auto few = round_tics(narrow);
    CHECK(few.size() >= 2);
    CHECK(few.size() <= 8);
    for (const Tic& tic : few) CHECK((tic.place >= narrow.low && tic.place <= narrow.high));
  }
  CHECK(round_tics({0.0311, 0.0362}).front().name == "0.032");
  CHECK(every_nth({5, 6, 7, 8}, 2).back().name == "7");
}

TEST_CASE("page: what stands on one panel is not on another") {
  Page page(flowing({}, 2, 2), {});
  Panel& first = page.panel(0);
  first.x_axis({0, 1}, {.step = 0.5});
  first.y_logarithmic();
  first.note("here", {share(0), share(1)});
  first.falling_diagonal({});
  Panel& second = page.panel(1);
  second.falling_diagonal({});
  const std::string script = page.figure().script();
  const std::string after = script.substr(script.find("here"));
  CHECK_THAT(after,
             ContainsSubstring("unset label") && ContainsSubstring("unset logscale") && ContainsSubstring("autofreq"));
}
