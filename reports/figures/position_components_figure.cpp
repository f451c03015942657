#include "position_components_figure.h"

#include <algorithm>
#include <array>
#include <string>

#include <fmt/format.h>

#include "../drawing/field_values.h"
#include "../drawing/palette.h"
#include "../drawing/panels.h"

namespace headwave {

namespace {

constexpr const char* name = "position_components/cumulative_share";
constexpr std::array named_counts{4.0, 12.0};

/// A dot on the curve, and beside it what it says: the curve rises, so there is room below.
std::string mark(std::size_t i, double count, double percent) {
  return fmt::format(
      "set label {} \"{:g} components: {:.1f} %\" at {}, {} left offset 0.8,-0.5 front tc rgb \"#D55E00\" point pt 7 "
      "ps "
      "0.45 lc rgb \"#D55E00\"",
      i + 1, count, percent, count, percent);
}

}  // namespace

GnuplotFigure position_components_figure(const Result& result, const FigureOptions& /*options*/) {
  const auto& shares = doubles_of(result, name, {"component"});
  const auto counts = coordinates(result.at(name), "component");
  if (counts.empty() || !(counts.front() > 0)) throw ShapeError(fmt::format("{}: holds no components to draw", name));
  PanelGrid grid;
  grid.panel_width = 4.4;
  grid.panel_height = 2.3;
  grid.left = 0.66;
  grid.right = 0.2;
  grid.top = 0.12;
  GnuplotFigure figure(grid.width(), grid.height());
  figure.add(house_style());
  figure.add(grid.place(0, 0));
  figure.add(grid.title_below(0, 0, "number of principal components, largest first"));
  figure.add(grid.title_left(0, 0, "cumulative share of variance (%)"));
  figure.add(fmt::format("set logscale x 2\nset xrange [{}:{}]\nset yrange [0:102]\nset ytics 20\nset format \"%g\"",
                         counts.front() / 1.06, std::max(counts.back(), 2 * counts.front()) * 1.04));
  DataTable table({"components", "cumulative_share", "cumulative_percent"});
  for (std::size_t i = 0; i < counts.size(); ++i) {
    table.add_row({counts[i], shares[i], 100 * shares[i]});
    const auto found = std::find(named_counts.begin(), named_counts.end(), counts[i]);
    if (found != named_counts.end() && shares[i] >= 0 && shares[i] <= 1.01)
      figure.add(mark(static_cast<std::size_t>(found - named_counts.begin()), counts[i], 100 * shares[i]));
  }
  figure.add(fmt::format("plot \"{}\" using 1:3 with lines {}", figure.add_numbers(table), line_style(0)));
  return figure;
}

}  // namespace headwave
