#include "cross_covariance_figure.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "../../core/fields/head_name.h"
#include "../drawing/field_values.h"
#include "../drawing/palette.h"
#include "../drawing/panels.h"
#include "chosen_heads.h"
#include "cluster_peaks.h"
#include "weighted_sums.h"

namespace headwave {

namespace {

constexpr const char* correlation_name = "cross_covariance/correlation";
constexpr std::size_t most_heads = 6;
constexpr std::size_t most_columns = 4;

struct Columns {
  const std::vector<double>* correlations = nullptr;  // (rows, components, lags)
  std::vector<double> components;
  std::size_t shown = 0;
};

Columns columns_of(const Result& result, const WeightedSums& sums) {
  Columns columns;
  columns.correlations = &doubles_of(result, correlation_name, {"layer", "head", "component", "lag"});
  columns.components = coordinates(result.at(correlation_name), "component");
  columns.shown = std::min(columns.components.size(), most_columns);
  if (columns.shown == 0 || columns.correlations->size() != columns.components.size() * sums.values->size())
    throw ShapeError(fmt::format("{}: expected {} numbers for each of {} columns, at least one, found {}",
                                 correlation_name, sums.values->size(), columns.components.size(),
                                 columns.correlations->size()));
  return columns;
}

/// A panel per head, to be cut in two.
PanelGrid grid_of(std::size_t heads) {
  PanelGrid grid;
  grid.columns = std::min<Index>(static_cast<Index>(heads), 3);
  grid.rows = (static_cast<Index>(heads) + grid.columns - 1) / grid.columns;
  grid.panel_width = heads == 1 ? 3.6 : 2.05;
  grid.panel_height = 1.95;
  grid.gap_x = 0.48;
  grid.gap_y = 0.46;
  grid.left = 0.66;
  grid.right = 0.14;
  grid.bottom = 0.5;
  grid.top = 0.58;
  return grid;
}

/// The upper or the lower part of a panel, as parts of its height.
std::string part(const PanelGrid& grid, Index row, double from, double to) {
  const auto y = [&](double share) { return (grid.panel_bottom(row) + share * grid.panel_height) / grid.height(); };
  return fmt::format("set bmargin at screen {:.6f}\nset tmargin at screen {:.6f}", y(from), y(to));
}

/// From below zero or the smallest value to well above the largest, where the maximum's number stands.
std::string sum_range(const std::vector<double>& values) {
  const ValueRange range = range_with_zero(values);
  const double span = range.high - range.low;
  return fmt::format("set yrange [{}:{}]\nset ytics {}", range.low, range.high + 0.12 * span, tic_step(1.4 * span));
}

/// What both parts of a panel draw: the sum, and the columns of the largest gains.
DataTable table_of(const WeightedSums& sums, const Columns& columns, const ChosenHead& head) {
  std::vector<std::string> names{"layer", "head", "lag", "weighted_centred", "weighted_centred_by_T"};
  for (std::size_t j = 0; j < columns.shown; ++j)
    names.push_back(fmt::format("correlation_{:g}", columns.components[j]));
  DataTable table(names);
  for (std::size_t t = 0; t < sums.lags.size(); ++t) {
    if (!sums.shown(t)) continue;
    std::vector<Cell> cells{head.name.layer, head.name.head, sums.lags[t], sums.value(head.row, t),
                            sums.value(head.row, t) / sums.length};
    for (std::size_t j = 0; j < columns.shown; ++j)
      cells.emplace_back((*columns.correlations)[(head.row * columns.components.size() + j) * sums.lags.size() + t]);
    table.add_row(std::move(cells));
  }
  return table;
}

std::vector<double> plotted_sums(const DataTable& table) {
  std::vector<double> values;
  for (const auto& row : table.rows()) values.push_back(std::get<double>(row[4]));
  return values;
}

/// The maximum's dot and number.
std::string mark(const WeightedSums& sums, std::size_t row) {
  const std::size_t peak = sums.peak(row);
  if (peak == sums.lags.size()) return "unset label 3";
  return fmt::format(
      "set label 3 \"{}\" at {}, {} {} offset {},0.35 font \"sans-serif:Bold,7.5\" tc rgb \"#D55E00\" front point pt 7 "
      "ps 0.4 lc rgb \"#D55E00\"",
      signed_offset(sums.lags[peak]), sums.lags[peak], sums.value(row, peak) / sums.length,
      sums.lags[peak] < 0 ? "right" : "left", sums.lags[peak] < 0 ? -0.7 : 0.7);
}

std::string column_plot(const std::string& file, const Columns& columns) {
  std::string plot;
  for (std::size_t j = 0; j < columns.shown; ++j)
    plot += fmt::format("{}\"{}\" using 3:{} with lines {}", j == 0 ? "plot " : ", ", file, j + 6,
                        line_style(static_cast<Index>(j), 1.1));
  return plot;
}

std::vector<LegendEntry> legend(const Columns& columns) {
  std::vector<LegendEntry> entries;
  for (std::size_t j = 0; j < columns.shown; ++j)
    entries.push_back({fmt::format("column {:g}", columns.components[j]), line_style(static_cast<Index>(j), 1.1)});
  return entries;
}

/// One head: the sum above, its columns below. The page's own title is drawn with the first sum.
void add_panel(GnuplotFigure& figure, const PanelGrid& grid, std::size_t k, const WeightedSums& sums,
               const Columns& columns, const ChosenHead& head) {
  const auto row = static_cast<Index>(k) / grid.columns, column = static_cast<Index>(k) % grid.columns;
  const DataTable table = table_of(sums, columns, head);
  const std::string file = figure.add_numbers(table);
  const auto y_title = [&](const char* text, double share) {
    figure.add(column > 0 ? "unset label 92"
                          : fmt::format("set label 92 \"{}\" at {} center rotate by 90", text,
                                        grid.page(0.14, grid.panel_bottom(row) + share * grid.panel_height)));
  };
  figure.add(grid.place(row, column));
  figure.add(part(grid, row, 0.46, 1) + "\nset format x \"\"\nset format y \"%g\"");
  y_title(sums.length > 1 ? "weighted sum ÷ T" : "weighted sum", 0.73);
  figure.add(fmt::format("set label 93 \"{}\" at graph 0, graph 1 left offset 0,0.5 font \"sans-serif:Bold,8\"",
                         head_name(head.name.layer, head.name.head)));
  figure.add(sum_range(plotted_sums(table)) + '\n' + mark(sums, head.row));
  figure.add(fmt::format("plot \"{}\" using 3:5 with lines lc rgb \"#000000\" lw 1.5", file));
  figure.add(part(grid, row, 0, 0.4) + "\nset format x \"%g\"\nunset label 93\nunset label 3\nunset label 91");
  y_title("correlation", 0.2);
  if (column > 0) figure.add("set format y \"\"");  // all these have the same scale
  figure.add("set yrange [-1.1:1.1]\nset ytics 1\n" + column_plot(file, columns));
}

}  // namespace

GnuplotFigure cross_covariance_figure(const Result& result, const FigureOptions& options) {
  const WeightedSums sums = weighted_sums(result);
  const Columns columns = columns_of(result, sums);
  const auto heads = chosen_heads(result, correlation_name, options, most_heads);
  const PanelGrid grid = grid_of(heads.size());
  GnuplotFigure figure(grid.width(), grid.height());
  figure.add("set multiplot\n" + legend_above(grid, legend(columns)));
  figure.add(house_style());
  figure.add(fmt::format("set xrange [-{0}:{0}]\nset xtics {1}", sums.reach(), tic_step(1.4 * sums.reach())));
  figure.add("set arrow 1 from 0, graph 0 to 0, graph 1 nohead back lc rgb \"#b8b8b8\" lw 0.7");
  figure.add("set arrow 2 from graph 0, first 0 to graph 1, first 0 nohead back lc rgb \"#b8b8b8\" lw 0.7");
  figure.add(fmt::format("set label 91 \"lag t = key − query (tokens)\" at {} center",
                         grid.page((grid.left + grid.width() - grid.right) / 2, 0.12)));
  for (std::size_t k = 0; k < heads.size(); ++k) add_panel(figure, grid, k, sums, columns, heads[k]);
  figure.add("unset multiplot");
  return figure;
}

}  // namespace headwave
