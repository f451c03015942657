#include "cross_covariance_figure.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "../../core/fields/head_name.h"
#include "../drawing/field_values.h"
#include "../drawing/page.h"
#include "chosen_heads.h"
#include "cluster_peaks.h"
#include "weighted_sums.h"

namespace headwave {

namespace {

constexpr const char* correlation_name = "cross_covariance/correlation";
constexpr std::size_t most_covariance_heads = 6;
constexpr std::size_t most_components = 4;

struct LoudColumns {
  const std::vector<double>* correlations = nullptr;  // (rows, components, lags)
  std::vector<double> components;
  std::size_t shown = 0;
};

LoudColumns columns_of(const Result& result, const WeightedSums& sums) {
  LoudColumns columns;
  columns.correlations = &doubles_of(result, correlation_name, {"layer", "head", "component", "lag"});
  columns.components = coordinates(result.at(correlation_name), "component");
  columns.shown = std::min(columns.components.size(), most_components);
  if (columns.shown == 0 || columns.correlations->size() != columns.components.size() * sums.values->size())
    throw ShapeError(fmt::format("{}: expected {} numbers for each of {} columns, at least one, found {}",
                                 correlation_name, sums.values->size(), columns.components.size(),
                                 columns.correlations->size()));
  return columns;
}

Line component_line(std::size_t column) {
  return categorical_line(static_cast<Index>(column), 1.1);
}

std::vector<LegendEntry> legend_of(const LoudColumns& columns) {
  std::vector<LegendEntry> entries;
  for (std::size_t j = 0; j < columns.shown; ++j)
    entries.push_back({fmt::format("column {:g}", columns.components[j]), component_line(j)});
  return entries;
}

/// A panel per head, to be cut in two.
PanelGrid covariance_grid(std::size_t heads, const std::vector<LegendEntry>& legend, const FigureStyle& style) {
  PanelGrid grid;
  grid.panel_width = heads == 1 ? 3.6 : 2.05;
  grid.panel_height = 1.95;
  grid.gap_x = 0.48;
  grid.gap_y = 0.46;
  grid.left = 0.66;
  grid.right = 0.14;
  grid.bottom = 0.5;
  grid.top = 0.58;
  return fitted(with_legend_above(flowing(grid, heads, 3), legend, style), heads, 1.6, style);
}

/// What both parts of a panel draw: the sum, and the columns of the largest gains.
DataTable table_of(const WeightedSums& sums, const LoudColumns& columns, const ChosenHead& head) {
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

/// Lines and axes that both parts share.
void add_axes(Panel& panel, const WeightedSums& sums, Numbers numbers) {
  panel.x_axis({-sums.reach(), sums.reach()}, {.step = tic_step(1.4 * sums.reach()), .numbers = numbers});
  panel.vertical(0, {ink::zero_line, 0.7});
  panel.level(0, {ink::zero_line, 0.7});
}

void title_left(Panel& panel, const PanelGrid& grid, std::size_t k, const char* title, double middle) {
  if (grid.column_of(k) > 0) return;
  const double y = grid.panel_bottom(grid.row_of(k)) + middle * grid.panel_height;
  panel.note(title, grid.at(0.14, y), {.anchor = Anchor::center, .upward = true});
}

/// Above: the sum, with its maximum's dot and number.
void add_sum(Panel& panel, const WeightedSums& sums, std::size_t row, const DataTable& table, const std::string& file) {
  std::vector<double> plotted;
  for (const auto& cells : table.rows()) plotted.push_back(std::get<double>(cells[4]));
  // From below zero or the smallest value to well above the largest, where the maximum's number stands.
  const ValueRange range = range_with_zero(plotted);
  const double span = range.high - range.low;
  panel.y_axis({range.low, range.high + 0.12 * span}, {.step = tic_step(1.4 * span), .numbers = Numbers::plain});
  if (const std::size_t peak = sums.peak(row); peak < sums.lags.size()) {
    const bool before = sums.lags[peak] < 0;
    panel.mark({value(sums.lags[peak]), value(sums.value(row, peak) / sums.length)}, {ink::mark, 0.4},
               signed_offset(sums.lags[peak]),
               {.points = 7.5,
                .bold = true,
                .ink = ink::mark,
                .anchor = before ? Anchor::right : Anchor::left,
                .right = before ? -0.7 : 0.7,
                .up = 0.35,
                .front = true});
  }
  panel.curve(file, "3:5", {ink::text, 1.5});
}

/// One head: the sum above, its columns below.
void add_head(Page& page, std::size_t k, const WeightedSums& sums, const LoudColumns& columns, const ChosenHead& head) {
  const PanelGrid& grid = page.grid();
  const DataTable table = table_of(sums, columns, head);
  const std::string file = page.numbers(table);
  Panel& above = page.panel(k);
  above.part(0.46, 1);
  add_axes(above, sums, Numbers::none);
  add_sum(above, sums, head.row, table, file);
  if (k == 0) page.title_below("lag t = key − query (tokens)", 0.12);
  title_left(above, grid, k, sums.length > 1 ? "weighted sum ÷ T" : "weighted sum", 0.73);
  above.above(head_name(head.name.layer, head.name.head), Anchor::left, {.points = 8, .bold = true, .up = 0.5});

  Panel& below = page.panel(k);
  below.part(0, 0.4);
  add_axes(below, sums, Numbers::plain);
  // All these have the same scale.
  below.y_axis({-1.1, 1.1}, {.step = 1, .numbers = grid.column_of(k) > 0 ? Numbers::none : Numbers::plain});
  title_left(below, grid, k, "correlation", 0.2);
  for (std::size_t j = 0; j < columns.shown; ++j) below.curve(file, fmt::format("3:{}", j + 6), component_line(j));
}

GnuplotFigure draw_cross_covariance(const Result& result, const FigureOptions& options) {
  const WeightedSums sums = weighted_sums(result);
  const LoudColumns columns = columns_of(result, sums);
  const auto heads = chosen_heads(result, correlation_name, options, most_covariance_heads);
  const auto legend = legend_of(columns);
  Page page(covariance_grid(heads.size(), legend, options.style), options.style);
  page.legend(legend);
  for (std::size_t k = 0; k < heads.size(); ++k) add_head(page, k, sums, columns, heads[k]);
  return page.figure();
}

}  // namespace

FigureKind cross_covariance_figure() {
  return {"cross_covariance",
          {"cross_covariance/weighted_centred", "cross_covariance/correlation"},
          clearness_fields(),
          "Where the scores of single heads point. Above: cross-covariances of redefined query and key columns, summed "
          "with their gains as weights, which is the sum of the unscaled scores along a diagonal; row means of the "
          "scores taken away, divided by T, mean over documents. The dot and its number mark the maximum in tokens, "
          "unless it is where the lags end. Below: correlations of the columns with the largest gains, less their mean "
          "over lags. Sums have their own scales; lags up to 30 are shown.",
          draw_cross_covariance};
}

}  // namespace headwave
