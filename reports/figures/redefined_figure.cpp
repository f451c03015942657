#include "redefined_figure.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "../../core/fields/head_name.h"
#include "../drawing/field_values.h"
#include "../drawing/palette.h"
#include "../drawing/panels.h"
#include "chosen_heads.h"
#include "cluster_peaks.h"

namespace headwave {

namespace {

constexpr const char* query_name = "redefined/query";
constexpr std::size_t most_waves = 2;
constexpr double window = 64;  // positions

struct Waves {
  std::vector<double> positions;
  std::size_t stored = 0, shown = 0;                                                // waves per head
  const std::vector<double>*query = nullptr, *key = nullptr, *component = nullptr;  // (rows, waves (, positions))
};

Waves waves_of(const Result& result) {
  Waves waves;
  waves.query = &doubles_of(result, query_name, {"layer", "head", "wave", "position"});
  waves.key = &doubles_of(result, "redefined/key", {"layer", "head", "wave", "position"});
  waves.component = &doubles_of(result, "redefined/component", {"layer", "head", "wave"});
  const Field& field = result.at(query_name);
  waves.positions = coordinates(field, "position");
  waves.stored = static_cast<std::size_t>(field.axis("wave").size());
  waves.shown = std::min(waves.stored, most_waves);
  if (waves.query->empty() || waves.key->size() != waves.query->size() ||
      waves.component->size() * waves.positions.size() != waves.query->size())
    throw ShapeError(fmt::format(
        "{}: expected a key course and a column number for every course, and at least one; "
        "found {} and {} numbers for {} of {} positions",
        query_name, waves.key->size(), waves.component->size(), waves.query->size(), waves.positions.size()));
  return waves;
}

/// A number that another analysis gives for a column, if it is in the result and has that column.
double of_column(const Result& result, const char* name, std::size_t row, double component) {
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  const Field* field = result.find(name);
  if (field == nullptr) return unknown;
  const bool sided = field->axes.size() == 4;
  const auto& values = sided ? doubles_of(result, name, {"layer", "head", "component", "side"})
                             : doubles_of(result, name, {"layer", "head", "component"});
  const auto components = coordinates(*field, "component");
  const auto found = std::find(components.begin(), components.end(), component);
  const std::size_t sides = sided ? static_cast<std::size_t>(field->axis("side").size()) : 1;  // queries come first
  const std::size_t at = (row * components.size() + static_cast<std::size_t>(found - components.begin())) *
                         std::max<std::size_t>(sides, 1);
  return found == components.end() || at >= values.size() ? unknown : values[at];
}

std::string title_of(const Result& result, std::size_t row, double component) {
  if (!std::isfinite(component)) return "no further column";
  std::string title = fmt::format("column {:g}", component);
  if (const double gain = of_column(result, "qk_svd/gain", row, component); std::isfinite(gain))
    title += fmt::format(", gain {:.3g}", gain);
  if (const double f = of_column(result, "periodic_columns/peak_frequency", row, component); std::isfinite(f))
    title += fmt::format(", f = {:g} cycles/T", f);
  return title;
}

PanelGrid grid_of(std::size_t heads, std::size_t waves) {
  PanelGrid grid;
  grid.rows = static_cast<Index>(heads);
  grid.columns = static_cast<Index>(waves);
  grid.panel_width = waves == 1 ? 4.4 : 3.1;
  grid.panel_height = 0.85;
  grid.gap_x = 0.45;
  grid.gap_y = 0.34;
  grid.left = 0.66;
  grid.right = 0.16;
  grid.bottom = 0.5;
  grid.top = 0.56;
  return grid;
}

std::string y_range(const std::vector<double>& values) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const double value : values)
    if (std::isfinite(value)) {
      low = std::min(low, value);
      high = std::max(high, value);
    }
  if (!(low < high)) return "set yrange [-1:1]\nset ytics 1";
  const double room = 0.08 * (high - low);
  return fmt::format("set yrange [{}:{}]\nset ytics {}", std::min(low - room, 0.0), std::max(high + room, 0.0),
                     tic_step(1.6 * (std::max(high, 0.0) - std::min(low, 0.0))));
}

/// One wave: its query course solid, its key course dashed, on one scale.
std::string plot_of(GnuplotFigure& figure, const Waves& waves, const ChosenHead& head, std::size_t wave) {
  const double component = (*waves.component)[head.row * waves.stored + wave];
  DataTable table({"layer", "head", "component", "position", "query", "key"});
  std::vector<double> shown;
  for (std::size_t i = 0; i < waves.positions.size() && waves.positions[i] < window; ++i) {
    const std::size_t at = (head.row * waves.stored + wave) * waves.positions.size() + i;
    table.add_row(
        {head.name.layer, head.name.head, component, waves.positions[i], (*waves.query)[at], (*waves.key)[at]});
    shown.insert(shown.end(), {(*waves.query)[at], (*waves.key)[at]});
  }
  const std::string file = figure.add_numbers(table);
  return y_range(shown) + fmt::format(
                              "\nplot \"{0}\" using 4:5 with lines {1} notitle, \"{0}\" using 4:6 with lines {2} "
                              "notitle",
                              file, line_style(0, 1.5), line_style(1, 1.3));
}

void add_panel(GnuplotFigure& figure, const Result& result, const Waves& waves, const ChosenHead& head,
               std::size_t wave) {
  const auto above = [&](int number, const std::string& text, const char* side, const char* font) {
    figure.add(fmt::format("set label {} \"{}\" at graph {}, graph 1 {} offset 0,0.5 font \"sans-serif{},7.5\"", number,
                           text, side, *side == '0' ? "left" : "right", font));
  };
  const std::string name = head_name(head.name.layer, head.name.head);
  above(93, std::isnan(head.measured) ? name : name + ", offset " + signed_offset(head.measured), "0", ":Bold");
  above(94, title_of(result, head.row, (*waves.component)[head.row * waves.stored + wave]), "1", "");
  figure.add(plot_of(figure, waves, head, wave));
}

}  // namespace

GnuplotFigure redefined_figure(const Result& result, const FigureOptions& options) {
  const Waves waves = waves_of(result);
  const auto heads = chosen_heads(result, query_name, options);
  const PanelGrid grid = grid_of(heads.size(), waves.shown);
  const double first = waves.positions.front();
  GnuplotFigure figure(grid.width(), grid.height());
  figure.add("set multiplot\n" + legend_above(grid, {{"query", line_style(0, 1.5)}, {"key", line_style(1, 1.3)}}));
  figure.add(house_style());
  figure.add(fmt::format("set format \"%g\"\nset xrange [{}:{}]", first - 0.5,
                         std::max(first + 1, std::min(window, waves.positions.back() + 1)) - 0.5));
  figure.add("set arrow 1 from graph 0, first 0 to graph 1, first 0 nohead back lc rgb \"#b8b8b8\" lw 0.7");
  figure.add(fmt::format("set label 92 \"{}\" at {} center rotate by 90",
                         grid.height() > 3 ? "value (units of the hidden states)" : "value (units of X)",
                         grid.page(0.14, (grid.bottom + grid.height() - grid.top) / 2)));
  for (std::size_t k = 0; k < heads.size(); ++k)
    for (std::size_t wave = 0; wave < waves.shown; ++wave) {
      const auto row = static_cast<Index>(k), column = static_cast<Index>(wave);
      const bool lowest = row + 1 == grid.rows;
      figure.add(grid.place(row, column));
      figure.add(lowest ? grid.title_below(row, column, "position in the first document (tokens)") : "unset label 91");
      figure.add(lowest ? "set format x \"%g\"" : "set format x \"\"");
      add_panel(figure, result, waves, heads[k], wave);
      figure.add("unset label 92");  // the page's own title, drawn with the first panel
    }
  figure.add("unset multiplot");
  return figure;
}

}  // namespace headwave
