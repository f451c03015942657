#include "position_correlation_figure.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "../drawing/field_values.h"
#include "../drawing/panels.h"

namespace headwave {

namespace {

constexpr const char* name = "position_correlation/correlation";
constexpr const char* mean_name = "position_correlation/chance_mean";
constexpr const char* largest_name = "position_correlation/chance_largest";
constexpr Index most_columns = 4;
constexpr Index most_steps = 127;  // of the colours

struct Correlations {
  std::vector<Index> layers, truncations, components;
  const std::vector<double>*found = nullptr, *mean = nullptr, *largest = nullptr;  // (layers, truncations, components)

  [[nodiscard]] std::size_t at(std::size_t layer, std::size_t truncation, std::size_t component) const {
    return (layer * truncations.size() + truncation) * components.size() + component;
  }
};

Correlations correlations_of(const Result& result) {
  const Field& field = result.at(name);
  const auto numbers = [&](const char* of) { return &doubles_of(result, of, {"layer", "truncation", "component"}); };
  Correlations all;
  all.found = numbers(name);
  all.mean = numbers(mean_name);
  all.largest = numbers(largest_name);
  all.layers = whole_coordinates(field, "layer");
  all.truncations = whole_coordinates(field, "truncation");
  all.components = whole_coordinates(field, "component");
  if (all.found->empty() || all.mean->size() != all.found->size() || all.largest->size() != all.found->size())
    throw ShapeError(
        fmt::format("{}: expected as many numbers of chance as correlations, at least one; found {} and {} "
                    "for {}",
                    name, all.mean->size(), all.largest->size(), all.found->size()));
  return all;
}

/// Colours by depth: viridis without its lightest part, which white paper swallows; a step for every layer.
std::string layer_colors(const std::vector<Index>& layers) {
  constexpr std::array<std::array<int, 3>, 5> stops{
      {{0x44, 0x01, 0x54}, {0x3B, 0x52, 0x8B}, {0x21, 0x91, 0x8C}, {0x5E, 0xC9, 0x62}, {0xA8, 0xDB, 0x34}}};
  const auto [first, last] = std::minmax_element(layers.begin(), layers.end());
  const Index span = *last - *first, steps = std::min(span, most_steps) + 1;
  std::string list;
  for (Index step = 0; step < steps; ++step) {
    const double place = 4.0 * static_cast<double>(step) / static_cast<double>(std::max<Index>(1, steps - 1));
    const auto below = std::min<std::size_t>(static_cast<std::size_t>(place), 3);
    const auto part = [&](std::size_t c) {
      return std::lround(std::lerp(stops[below][c], stops[below + 1][c], place - static_cast<double>(below)));
    };
    const std::string color = fmt::format("#{:02X}{:02X}{:02X}", part(0), part(1), part(2));
    list += fmt::format("{0}{1} \"{3}\", {2} \"{3}\"", step == 0 ? "" : ", ", step, step + 1, color);
  }
  return fmt::format("set palette defined ({})\nset cbrange [{}:{}]\nset cbtics {},{}", list,
                     static_cast<double>(*first) - 0.5, static_cast<double>(*last) + 0.5, *first,
                     span < 12   ? 1
                     : span < 24 ? 2
                                 : std::max<Index>(4, span / 8));
}

/// What shuffled positions reach in any layer, and their mean over layers.
std::string chance(GnuplotFigure& figure, const Correlations& all, std::size_t truncation) {
  DataTable table({"component", "mean", "largest"});
  for (std::size_t c = 0; c < all.components.size(); ++c) {
    double sum = 0, largest = std::numeric_limits<double>::quiet_NaN();
    for (std::size_t layer = 0; layer < all.layers.size(); ++layer) {
      sum += (*all.mean)[all.at(layer, truncation, c)];
      largest = std::fmax(largest, (*all.largest)[all.at(layer, truncation, c)]);
    }
    table.add_row({all.components[c], sum / static_cast<double>(all.layers.size()), largest});
  }
  const std::string file = figure.add_data(table);
  return fmt::format(
      "\"{0}\" using 1:3 with filledcurves y=0 lc rgb \"#808080\" fs solid 0.22 noborder, \"{0}\" using 1:2 with lines "
      "lc rgb \"#707070\" lw 1.2 dt \"-\"",
      file);
}

std::string lines(GnuplotFigure& figure, const Correlations& all, std::size_t truncation) {
  std::string plot;
  for (std::size_t layer = 0; layer < all.layers.size(); ++layer) {
    DataTable table({"truncation", "layer", "component", "correlation", "chance_mean", "chance_largest"});
    for (std::size_t c = 0; c < all.components.size(); ++c) {
      const std::size_t i = all.at(layer, truncation, c);
      if (all.components[c] > all.truncations[truncation]) continue;
      table.add_row({all.truncations[truncation], all.layers[layer], all.components[c], (*all.found)[i], (*all.mean)[i],
                     (*all.largest)[i]});
    }
    plot +=
        fmt::format(", \"{}\" using 3:4:2 with linespoints lc palette lw 1.4 pt 7 ps 0.22", figure.add_numbers(table));
  }
  return plot;
}

PanelGrid grid_of(std::size_t panels) {
  PanelGrid grid;
  grid.columns = std::min(static_cast<Index>(panels), most_columns);
  grid.rows = (static_cast<Index>(panels) + grid.columns - 1) / grid.columns;
  grid.panel_width = 1.95;
  grid.panel_height = 1.9;
  grid.gap_x = 0.22;
  grid.gap_y = 0.85;
  grid.left = 0.62;
  grid.right = 0.62;
  grid.top = 0.28;
  return grid;
}

}  // namespace

GnuplotFigure position_correlation_figure(const Result& result, const FigureOptions& /*options*/) {
  const Correlations all = correlations_of(result);
  const PanelGrid grid = grid_of(all.truncations.size());
  GnuplotFigure figure(grid.width(), grid.height());
  figure.add(house_style());
  figure.add(layer_colors(all.layers));
  figure.add("set format \"%g\"\nset yrange [0:1.03]\nset ytics 0.2\nset multiplot");
  for (std::size_t r = 0; r < all.truncations.size(); ++r) {
    const auto row = static_cast<Index>(r) / grid.columns, column = static_cast<Index>(r) % grid.columns;
    const double last = static_cast<double>(std::max<Index>(1, std::min(all.truncations[r], all.components.back())));
    figure.add(grid.place(row, column));
    figure.add(grid.title_below(row, column, "canonical component"));
    figure.add(column == 0 ? grid.title_left(row, column, "canonical correlation", 0.45) : "unset label 92");
    figure.add(column == 0 ? "set format y \"%g\"" : "set format y \"\"");
    figure.add(
        fmt::format("set label 93 \"top {} components kept\" at graph 0, graph 1 left offset 0,0.6 "
                    "font \"sans-serif:Bold,7.5\"",
                    all.truncations[r]));
    figure.add(fmt::format("set xrange [0.5:{}]\nset xtics {}", last + 0.5,
                           last < 6    ? 1
                           : last < 10 ? 2
                           : last < 16 ? 3
                                       : 5));
    figure.add(r > 0
                   ? "unset label 95"
                   : "set label 95 \"positions shuffled\" at graph 0.05, graph 0.07 left font \"sans-serif,7\" tc rgb "
                     "\"#505050\" front");
    figure.add(
        r > 0 ? "unset colorbox"
              : fmt::format("set label 94 \"layer\" at {} center\nset colorbox user origin screen {:.6f}, screen "
                            "{:.6f} size screen {:.6f}, screen {:.6f}",
                            grid.page(grid.width() - 0.4, grid.height() - 0.13),
                            (grid.width() - grid.right + 0.12) / grid.width(), grid.panel_bottom(0) / grid.height(),
                            0.12 / grid.width(), grid.panel_height / grid.height()));
    const std::string band = chance(figure, all, r);
    figure.add("plot " + band + lines(figure, all, r) + "\nunset label 94");
  }
  figure.add("unset multiplot");
  return figure;
}

}  // namespace headwave
