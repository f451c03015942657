#include <cmath>

#include "../../reports/drawing/figure.h"
#include "../catch.h"
#include "drawn_figure.h"

using namespace headwave;

namespace {

FigurePanels two_by_one() {
  return {.grid = {.panel = {2, 1}, .gap = {0.3, 0.5}, .margin = {.left = 0.6, .right = 0.1, .top = 0.5}},
          .least = 1.5,
          .fill = [](Panel& panel, std::size_t k) { panel.name("panel " + std::to_string(k)); }};
}

}  // namespace

TEST_CASE("panels: a grid's sizes, row 0 on top") {
  const PanelGrid grid{2, 2, {2.0, 1.0}, {0.5, 0.25}, {1.0, 0.5, 0.25, 0.5}};
  CHECK(grid.width() == Approx(6.0).epsilon(1e-15));
  CHECK(grid.height() == Approx(3.0).epsilon(1e-15));
  CHECK(grid.panel_left(1) == 3.5);
  CHECK(grid.panel_bottom(0) == 1.75);
  CHECK(grid.panel_bottom(1) == 0.5);
}

TEST_CASE("panels: fewer in a row where a page is narrow, rows equally full, as wide as asked for") {
  const FigurePanels panels = two_by_one();
  CHECK(grid_of(panels, 6, {}).rows == 2);
  CHECK(grid_of(panels, 6, {}).columns == 3);
  for (const double width : {2.5, 3.4, 5.0, 7.0}) {
    const PanelGrid fit = grid_of(panels, 6, width);
    INFO(width);
    CHECK(fit.width() == Approx(width).epsilon(1e-14));
    CHECK(fit.rows * fit.columns >= 6);
    CHECK((fit.columns == 1 || fit.panel.width >= 1.5));
    CHECK(fit.panel.height >= 1);
  }
  CHECK(grid_of(panels, 6, 3.4).columns == 1);
  CHECK(grid_of(panels, 4, 7).columns == 2);  // not 3 and 1
}

TEST_CASE("panels: cells do not grow with the page, and a legend takes as many rows above them as it needs") {
  FigurePanels panels = two_by_one();
  panels.grows = false;
  panels.flatness = 0.5;
  const double bare = grid_of(panels, 1, 7).margin.top;
  for (int i = 0; i < 5; ++i) panels.legend.push_back({"entry", {}});
  const PanelGrid wide = grid_of(panels, 1, 7), narrow = grid_of(panels, 1, 2);
  CHECK(wide.panel.width == 2);
  CHECK(wide.width() == Approx(7));
  CHECK(wide.margin.top == bare);
  CHECK(narrow.width() == Approx(2));
  CHECK(narrow.margin.top > bare);
  CHECK(narrow.panel.height == Approx(0.5 * narrow.panel.width));
}

TEST_CASE("panels: as many as a page holds in whole rows, one row at least, and the figure says how many") {
  FigurePanels panels = two_by_one();
  CHECK(fitting(panels, 100, {}) == 100);
  CHECK(fitting(panels, 100, 3.4) == 5);  // 5 rows of 1.5 inches, 0.5 less and 1 more, in 9
  CHECK(fitting(panels, 100, 7) == 15);
  CHECK(fitting(panels, 4, 7) == 4);
  panels.of = 100;
  CHECK(drawn_panels(panels, 100, 7).shown == "15 of 100 heads are shown.");
  CHECK(drawn_panels(panels, 100, {}).shown.empty());
  FigurePanels tall = two_by_one();
  tall.grid.panel.height = 20;
  CHECK(fitting(tall, 100, 3.4) == 1);
  tall.each = 2;
  CHECK(fitting(tall, 100, 3.4) == 2);
}

TEST_CASE("panels: notes take as many lines below as their words need") {
  FigurePanels panels = two_by_one();
  const double bare = grid_of(panels, 1, {}).height();
  panels.notes = {"one", "two"};
  CHECK(grid_of(panels, 1, {}).height() == Approx(bare + 0.12));
  panels.notes.push_back(std::string(60, 'x'));
  CHECK(grid_of(panels, 1, {}).height() == Approx(bare + 0.24));
  CHECK_THAT(drawn_panels(panels, 1, {}).script(), ContainsSubstring("\"one; two\""));
}

TEST_CASE("panels: a range shows zero and every finite number, and is never empty") {
  const ValueRange range = range_with_zero(std::vector{1.0, 2.0, std::nan("")});
  CHECK(range.low == 0);
  CHECK(range.high == Approx(2.14).epsilon(1e-14));
  CHECK(range_with_zero(std::vector{-1.0, 1.0}).low == Approx(-1.14).epsilon(1e-14));
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
  CHECK(spaced({5, 6, 7, 8}, 1, 0.5).back().name == "7");
}

TEST_CASE("panels: what stands on one is not on another") {
  FigurePanels panels = two_by_one();
  panels.fill = [](Panel& panel, std::size_t k) {
    if (k > 0) return;
    panel.x.tics.step = 0.5;
    panel.y.log = 10;
    panel.note("here", {share(0), share(1)});
  };
  const std::string script = drawn_panels(panels, 2, {}).script();
  CHECK_THAT(script.substr(script.find("here")),
             ContainsSubstring("unset label") && ContainsSubstring("unset logscale") && ContainsSubstring("autofreq"));
}
