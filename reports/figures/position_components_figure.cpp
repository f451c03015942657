#include "position_components_figure.h"

#include <algorithm>
#include <array>
#include <string>

#include <fmt/format.h>

#include "../drawing/field_values.h"
#include "../drawing/page.h"

namespace headwave {

namespace {

constexpr const char* cumulative_share_name = "position_components/cumulative_share";
constexpr std::array named_counts{4.0, 12.0};

GnuplotFigure draw_position_components(const Result& result, const FigureOptions& options) {
  const auto& shares = doubles_of(result, cumulative_share_name, {"component"});
  const auto counts = coordinates(result.at(cumulative_share_name), "component");
  if (counts.empty() || !(counts.front() > 0))
    throw ShapeError(fmt::format("{}: holds no components to draw", cumulative_share_name));
  PanelGrid grid;
  grid.panel_width = 4.4;
  grid.panel_height = 2.3;
  grid.left = 0.66;
  grid.right = 0.2;
  grid.top = 0.12;
  grid = fitted(grid, 1, 1.0, options.style);
  Page page(grid, options.style);
  Panel& panel = page.panel(0, 0);
  panel.title_below("number of principal components, largest first");
  panel.title_left("cumulative share of variance (%)");
  panel.x_axis({counts.front() / 1.06, std::max(counts.back(), 2 * counts.front()) * 1.04},
               {.numbers = Numbers::plain});
  panel.x_logarithmic(2);
  panel.y_axis({0, 102}, {.step = 20, .numbers = Numbers::plain});
  DataTable table({"components", "cumulative_share", "cumulative_percent"});
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const double percent = 100 * shares[i];
    table.add_row({counts[i], shares[i], percent});
    const bool named = std::find(named_counts.begin(), named_counts.end(), counts[i]) != named_counts.end();
    if (named && shares[i] >= 0 && shares[i] <= 1.01)  // the curve rises, so there is room below it
      panel.mark({value(counts[i]), value(percent)}, {ink::mark, 0.45},
                 fmt::format("{:g} components: {:.1f} %", counts[i], percent),
                 {.ink = ink::mark, .right = 0.8, .up = -0.5, .front = true});
  }
  panel.curve(page.numbers(table), "1:3", categorical_line(0));
  return page.figure();
}

}  // namespace

FigureKind position_components_figure() {
  return {"position_components",
          {"position_components/cumulative_share"},
          {},
          "How many principal components the position table needs: share of its variance, column means taken away, "
          "along the largest components together, against their number (logarithmic). Dots mark the 4 and 12 "
          "components that the paper names.",
          draw_position_components};
}

}  // namespace headwave
