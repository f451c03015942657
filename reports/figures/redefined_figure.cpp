#include "redefined_figure.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "../../core/fields/head_name.h"
#include "../drawing/field_values.h"
#include "../drawing/page.h"
#include "chosen_heads.h"
#include "cluster_peaks.h"

namespace headwave {

namespace {

constexpr const char* query_name = "redefined/query";
constexpr std::size_t most_waves = 2;
constexpr double positions_shown = 64;  // positions
constexpr double least_shift = 1.0 / 16,
                 most_shift = 0.5;  // of a period: what can be seen, and told from the other side

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

/// Places of the waves to show: those of which the measured offset is a part of a period that can be seen first, as
/// periodic as they come, then the others.
std::vector<std::size_t> waves_shown(const Result& result, const Waves& waves, const ChosenHead& head, double length) {
  std::vector<std::size_t> order(waves.stored);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_partition(order.begin(), order.end(), [&](std::size_t wave) {
    const double component = (*waves.component)[head.row * waves.stored + wave];
    const double f = of_column(result, "periodic_columns/peak_frequency", head.row, component);
    const double shift = std::abs(head.measured) * f / length;
    return shift >= least_shift && shift <= most_shift;
  });
  order.resize(waves.shown);
  return order;
}

Line query_line() {
  return categorical_line(0, 1.5);
}

Line key_line() {
  return categorical_line(1, 1.3);
}

constexpr double one_line = 3.05;  // inches that a head's name and what is said of the column take beside each other

/// A row of panels per head, of several rows where one does not hold its waves.
PanelGrid grid_of(std::size_t heads, std::size_t waves, const FigureStyle& style) {
  PanelGrid grid;
  grid.columns = static_cast<Index>(waves);
  grid.panel_width = waves == 1 ? 4.4 : 3.1;
  grid.panel_height = 0.85;
  grid.gap_x = 0.45;
  grid.gap_y = 0.34;
  grid.left = 0.66;
  grid.right = 0.16;
  grid.bottom = 0.5;
  grid.top = 0.56;
  grid = fitted(grid, waves, 2.4, style);
  if (grid.panel_width < one_line) {
    grid.gap_y += 0.13;
    grid.top += 0.13;
  }
  grid.rows *= static_cast<Index>(heads);
  return grid;
}

/// On one scale that holds zero.
void add_y_axis(Panel& panel, const std::vector<double>& values) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const double value : values)
    if (std::isfinite(value)) {
      low = std::min(low, value);
      high = std::max(high, value);
    }
  const double room = 0.08 * (high - low);
  const ValueRange range =
      low < high ? ValueRange{std::min(low - room, 0.0), std::max(high + room, 0.0)} : ValueRange{-1, 1};
  const double step = low < high ? tic_step(1.6 * (std::max(high, 0.0) - std::min(low, 0.0))) : 1;
  panel.y_axis(range, {.step = step, .numbers = Numbers::plain});
}

/// One wave: its query course solid, its key course dashed.
void add_panel(Page& page, const Result& result, const Waves& waves, const ChosenHead& head, std::size_t k) {
  const auto shown_waves = waves_shown(result, waves, head, static_cast<double>(waves.positions.size()));
  const std::size_t row = head.row * waves.stored + shown_waves[k % waves.shown];
  const double component = (*waves.component)[row], first = waves.positions.front();
  DataTable table({"layer", "head", "component", "position", "query", "key"});
  std::vector<double> shown;
  for (std::size_t i = 0; i < waves.positions.size() && waves.positions[i] < positions_shown; ++i) {
    const std::size_t at = row * waves.positions.size() + i;
    table.add_row(
        {head.name.layer, head.name.head, component, waves.positions[i], (*waves.query)[at], (*waves.key)[at]});
    shown.insert(shown.end(), {(*waves.query)[at], (*waves.key)[at]});
  }
  const PanelGrid& grid = page.grid();
  const bool lowest = grid.row_of(k) + 1 == grid.rows;
  Panel& panel = page.panel(k);
  panel.x_axis({first - 0.5, std::max(first + 1, std::min(positions_shown, waves.positions.back() + 1)) - 0.5},
               {.numbers = lowest ? Numbers::plain : Numbers::none});
  add_y_axis(panel, shown);
  panel.level(0, {ink::zero_line, 0.7});
  if (lowest) panel.title_below(fmt::format("position in the first document (T = {} tokens)", waves.positions.size()));
  if (k == 0) page.title_left(grid.height() > 3 ? "value (units of the hidden states)" : "value (units of X)", 0.14);
  const std::string name = head_name(head.name.layer, head.name.head);
  panel.above(std::isnan(head.measured) ? name : name + ", offset " + signed_offset(head.measured), Anchor::left,
              {.points = 7.5, .bold = true, .up = grid.panel_width < one_line ? 1.5 : 0.5});
  panel.above(title_of(result, head.row, component), Anchor::right, {.points = 7.5, .up = 0.5});
  const std::string file = page.numbers(table);
  panel.curve(file, "4:5", query_line());
  panel.curve(file, "4:6", key_line());
}

GnuplotFigure draw_redefined(const Result& result, const FigureOptions& options) {
  const Waves waves = waves_of(result);
  const auto heads = chosen_heads(result, query_name, options);
  Page page(grid_of(heads.size(), waves.shown, options.style), options.style);
  page.legend({{"query", query_line()}, {"key", key_line()}});
  for (std::size_t k = 0; k < heads.size() * waves.shown; ++k)
    add_panel(page, result, waves, heads[k / waves.shown], k);
  return page.figure();
}

}  // namespace

FigureKind redefined_figure() {
  return {
      "redefined",
      {"redefined/query", "redefined/key", "redefined/component"},
      {"qk_svd/gain", "periodic_columns/peak_frequency", "measured_offset/offset"},
      "Redefined queries Q = X U_Q and keys K = X U_K of single heads, with U_Q S U_K^T the singular value "
      "decomposition of W_Q W_K^T: two of the most periodic columns over the first 64 tokens of the first "
      "document, in the units of the hidden states X, each panel on its own scale. Columns of which the head's offset "
      "is between a sixteenth and half of a period come first: in slower ones the shift could not be seen. Columns "
      "count from 1 by descending gain (singular value); f is the query column's peak in cycles per T tokens; offsets "
      "are the measured ones, in "
      "tokens.",
      draw_redefined};
}

}  // namespace headwave
