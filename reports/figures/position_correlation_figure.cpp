#include "position_correlation_figure.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "../drawing/field_values.h"
#include "../drawing/page.h"

namespace headwave {

namespace {

constexpr const char* canonical_name = "position_correlation/correlation";
constexpr const char* mean_name = "position_correlation/chance_mean";
constexpr const char* largest_name = "position_correlation/chance_largest";
constexpr Index most_beside = 4;
constexpr Index most_steps = 127;  // of the colours

struct Correlations {
  std::vector<Index> layers, truncations, components;
  const std::vector<double>*found = nullptr, *mean = nullptr, *largest = nullptr;  // (layers, truncations, components)

  [[nodiscard]] std::size_t at(std::size_t layer, std::size_t truncation, std::size_t component) const {
    return (layer * truncations.size() + truncation) * components.size() + component;
  }
};

Correlations correlations_of(const Result& result) {
  const Field& field = result.at(canonical_name);
  const auto numbers = [&](const char* of) { return &doubles_of(result, of, {"layer", "truncation", "component"}); };
  Correlations all;
  all.found = numbers(canonical_name);
  all.mean = numbers(mean_name);
  all.largest = numbers(largest_name);
  all.layers = whole_coordinates(field, "layer");
  all.truncations = whole_coordinates(field, "truncation");
  all.components = whole_coordinates(field, "component");
  if (all.found->empty() || all.mean->size() != all.found->size() || all.largest->size() != all.found->size())
    throw ShapeError(
        fmt::format("{}: expected as many numbers of chance as correlations, at least one; found {} and {} "
                    "for {}",
                    canonical_name, all.mean->size(), all.largest->size(), all.found->size()));
  return all;
}

/// What shuffled positions reach in any layer, and their mean over layers.
void add_chance(Page& page, Panel& panel, const Correlations& all, std::size_t truncation) {
  DataTable table({"component", "mean", "largest"});
  for (std::size_t c = 0; c < all.components.size(); ++c) {
    double sum = 0, largest = std::numeric_limits<double>::quiet_NaN();
    for (std::size_t layer = 0; layer < all.layers.size(); ++layer) {
      sum += (*all.mean)[all.at(layer, truncation, c)];
      largest = std::fmax(largest, (*all.largest)[all.at(layer, truncation, c)]);
    }
    table.add_row({all.components[c], sum / static_cast<double>(all.layers.size()), largest});
  }
  const std::string file = page.data(table);
  panel.area(file, "1:3", 0, ink::chance_area, 0.22);
  panel.curve(file, "1:2", {ink::chance, 1.2, "-"});
}

void add_layers(Page& page, Panel& panel, const Correlations& all, std::size_t truncation) {
  for (std::size_t layer = 0; layer < all.layers.size(); ++layer) {
    DataTable table({"truncation", "layer", "component", "correlation", "chance_mean", "chance_largest"});
    for (std::size_t c = 0; c < all.components.size(); ++c) {
      const std::size_t i = all.at(layer, truncation, c);
      if (all.components[c] > all.truncations[truncation]) continue;
      table.add_row({all.truncations[truncation], all.layers[layer], all.components[c], (*all.found)[i], (*all.mean)[i],
                     (*all.largest)[i]});
    }
    panel.colored_curve(page.numbers(table), "3:4:2", 1.4, 0.22);
  }
}

/// Which colour is which layer, right of the first row.
void add_layer_bar(Panel& panel, const PanelGrid& grid, Index first, Index span) {
  const double x = grid.width() - grid.right + 0.12;
  panel.note("layer", grid.at(grid.width() - 0.4, grid.height() - 0.13), {.anchor = Anchor::center});
  panel.color_bar({.x = x,
                   .y = grid.panel_bottom(0),
                   .width = 0.12,
                   .height = grid.panel_height,
                   .tics = {.step = span < 12   ? 1.0
                                    : span < 24 ? 2.0
                                                : static_cast<double>(std::max<Index>(4, span / 8)),
                            .first = static_cast<double>(first),
                            .numbers = Numbers::plain}});
}

PanelGrid correlation_grid(std::size_t panels, const FigureStyle& style) {
  PanelGrid grid;
  grid.panel_width = 1.95;
  grid.panel_height = 1.9;
  grid.gap_x = 0.22;
  grid.gap_y = 0.85;
  grid.left = 0.62;
  grid.right = 0.62;
  grid.top = 0.28;
  return fitted(flowing(grid, panels, most_beside), panels, 1.3, style);
}

void add_panel(Page& page, const Correlations& all, std::size_t r) {
  const auto [first, last] = std::minmax_element(all.layers.begin(), all.layers.end());
  const auto components = static_cast<double>(std::max<Index>(1, std::min(all.truncations[r], all.components.back())));
  const bool leftmost = page.grid().column_of(r) == 0;
  Panel& panel = page.panel(r);
  panel.title_below("canonical component");
  if (leftmost) panel.title_left("canonical correlation", 0.45);
  panel.above(fmt::format("top {} components kept", all.truncations[r]), Anchor::left,
              {.points = 7.5, .bold = true, .up = 0.6});
  panel.x_axis({0.5, components + 0.5}, {.step = components < 6    ? 1.0
                                                 : components < 10 ? 2.0
                                                 : components < 16 ? 3.0
                                                                   : 5.0,
                                         .numbers = Numbers::plain});
  panel.y_axis({0, 1.03}, {.step = 0.2, .numbers = leftmost ? Numbers::plain : Numbers::none});
  panel.color_range({static_cast<double>(*first) - 0.5, static_cast<double>(*last) + 0.5});
  if (r == 0) {
    add_layer_bar(panel, page.grid(), *first, *last - *first);
    panel.note("positions shuffled", {share(0.05), share(0.07)}, {.points = 7, .ink = ink::note, .front = true});
  }
  add_chance(page, panel, all, r);
  add_layers(page, panel, all, r);
}

GnuplotFigure draw_position_correlation(const Result& result, const FigureOptions& options) {
  const Correlations all = correlations_of(result);
  const auto [first, last] = std::minmax_element(all.layers.begin(), all.layers.end());
  Page page(correlation_grid(all.truncations.size(), options.style), options.style);
  page.step_colors(std::min(*last - *first, most_steps) + 1);
  for (std::size_t r = 0; r < all.truncations.size(); ++r) add_panel(page, all, r);
  return page.figure();
}

}  // namespace

FigureKind position_correlation_figure() {
  return {
      "position_correlation",
      {"position_correlation/correlation", "position_correlation/chance_mean", "position_correlation/chance_largest"},
      {},
      "Canonical correlations (1) of the hidden states that enter each layer with the positions, over all tokens "
      "of all documents; a panel for each number of the positions' principal components kept. Grey: what shuffled "
      "positions reach, the largest of all draws and layers, and dotted their mean.",
      draw_position_correlation};
}

}  // namespace headwave
