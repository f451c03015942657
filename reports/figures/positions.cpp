// The position table, and what of the positions is left in hidden states.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../../core/fields/field_reader.h"
#include "../drawing/page.h"
#include "kinds.h"

namespace headwave {

namespace {

constexpr const char *components_name = "position_components/cumulative_share",
                     *canonical_name = "position_correlation/correlation",
                     *canonical_mean_name = "position_correlation/chance_mean",
                     *canonical_largest_name = "position_correlation/chance_largest";
constexpr std::array named_counts{4.0, 12.0};

GnuplotFigure draw_position_components(const Result& result, const FigureOptions& options) {
  constexpr double label_width = 1.45;  // inches of a dot's label and its distance from the dot
  const auto& shares = doubles_of(result, components_name, {"component"});
  const auto counts = coordinates(result.at(components_name), "component");
  if (!(counts.front() > 0)) throw ShapeError(fmt::format("{}: holds no components to draw", components_name));
  const PanelGrid grid =
      fitted({.panel = {4.4, 2.3}, .margin = {.left = 0.66, .right = 0.2, .top = 0.12}}, 1, 1.0, options.style);
  Page page(grid, options.style);
  Panel& panel = page.panel(0);
  panel.title_below("number of principal components, largest first");
  panel.title_left("cumulative share of variance (%)");
  const ValueRange shown{counts.front() / 1.06, std::max(counts.back(), 2 * counts.front()) * 1.04};
  panel.x_axis(shown, {.numbers = Numbers::plain});
  panel.x_logarithmic(2);
  panel.y_axis({0, 102}, {.step = 20, .numbers = Numbers::plain});
  DataTable table({"components", "cumulative_share", "cumulative_percent"});
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const double percent = 100 * shares[i];
    table.add_row({counts[i], shares[i], percent});
    const bool named = std::ranges::find(named_counts, counts[i]) != named_counts.end();
    if (!named || !(shares[i] >= 0 && shares[i] <= 1.01)) continue;
    // The curve rises, so there is room below it: right of the dot, or where the panel ends before it.
    const double place = std::log(counts[i] / shown.low) / std::log(shown.high / shown.low);
    const bool fits = (1 - place) * panel.width() > label_width;
    panel.mark({value(counts[i]), value(percent)}, {ink::mark, 0.45});
    panel.note(fmt::format("{:g} components: {:.1f} %", counts[i], percent),
               {fits ? value(counts[i]) : share(0.98), value(percent)},
               {.ink = ink::mark,
                .anchor = fits ? Anchor::left : Anchor::right,
                .right = fits ? 0.8 : 0.0,
                .up = fits ? -0.5 : -1.5,
                .front = true});
  }
  panel.curve(page.numbers(table), "1:3", categorical_line(0));
  return page.figure();
}

struct Correlations {
  std::vector<Index> layers, truncations, components;
  const std::vector<double>&found, &mean, &largest;  // (layers, truncations, components)

  [[nodiscard]] std::size_t at(std::size_t layer, std::size_t truncation, std::size_t component) const {
    return (layer * truncations.size() + truncation) * components.size() + component;
  }
};

Correlations correlations_of(const Result& result) {
  const Field& field = result.at(canonical_name);
  const auto numbers = [&](const char* name) -> const std::vector<double>& {
    return doubles_of(result, name, {"layer", "truncation", "component"});
  };
  return {whole_coordinates(field, "layer"),     whole_coordinates(field, "truncation"),
          whole_coordinates(field, "component"), numbers(canonical_name),
          numbers(canonical_mean_name),          numbers(canonical_largest_name)};
}

/// What shuffled positions reach in any layer, and their mean over layers.
void add_chance(Page& page, Panel& panel, const Correlations& all, std::size_t truncation) {
  DataTable table({"component", "mean", "largest"});
  for (std::size_t c = 0; c < all.components.size(); ++c) {
    double sum = 0, largest = std::nan("");
    for (std::size_t layer = 0; layer < all.layers.size(); ++layer) {
      sum += all.mean[all.at(layer, truncation, c)];
      largest = std::fmax(largest, all.largest[all.at(layer, truncation, c)]);
    }
    table.add_row({all.components[c], sum / static_cast<double>(all.layers.size()), largest});
  }
  const std::string data = page.data(table);
  panel.area(data, "1:3", 0, ink::chance_area, 0.22);
  panel.curve(data, "1:2", {ink::chance, 1.2, "-"});
}

void add_layers(Page& page, Panel& panel, const Correlations& all, std::size_t truncation) {
  for (std::size_t layer = 0; layer < all.layers.size(); ++layer) {
    DataTable table({"truncation", "layer", "component", "correlation", "chance_mean", "chance_largest"});
    for (std::size_t c = 0; c < all.components.size(); ++c)
      if (const std::size_t i = all.at(layer, truncation, c); all.components[c] <= all.truncations[truncation])
        table.add_row({all.truncations[truncation], all.layers[layer], all.components[c], all.found[i], all.mean[i],
                       all.largest[i]});
    panel.colored_curve(page.numbers(table), "3:4:2", 1.4, 0.22);
  }
}

void add_correlations(Page& page, Panel& panel, const Correlations& all, std::size_t r) {
  const auto [first, last] = std::ranges::minmax(all.layers);
  const Index span = last - first;
  const auto components = static_cast<double>(std::max<Index>(1, std::min(all.truncations[r], all.components.back())));
  panel.title_below("canonical component");
  if (panel.is_leftmost()) panel.title_left("canonical correlation", 0.45);
  panel.above(fmt::format("top {} components kept", all.truncations[r]), Anchor::left,
              {.points = 7.5, .bold = true, .up = 0.6});
  panel.x_axis({0.5, components + 0.5}, {.step = std::max(1.0, std::floor(components / 5)), .numbers = Numbers::plain});
  panel.common_y_axis({0, 1.03}, {.step = 0.2});
  panel.color_range({static_cast<double>(first) - 0.5, static_cast<double>(last) + 0.5});
  if (r == 0) {  // which colour is which layer
    const PanelGrid& grid = page.grid();
    panel.note("layer", grid.at(grid.width() - 0.4, grid.height() - 0.13), {.anchor = Anchor::center});
    const double step = span < 12 ? 1.0 : span < 24 ? 2.0 : static_cast<double>(std::max<Index>(4, span / 8));
    panel.common_color_bar({.away = 0.12,
                            .width = 0.12,
                            .tics = {.step = step, .first = static_cast<double>(first), .numbers = Numbers::plain}});
    panel.note("positions shuffled", {share(0.05), share(0.07)}, {.points = 7, .ink = ink::note, .front = true});
  }
  add_chance(page, panel, all, r);
  add_layers(page, panel, all, r);
}

GnuplotFigure draw_position_correlation(const Result& result, const FigureOptions& options) {
  constexpr std::size_t most_steps = 128;  // of the colours
  const Correlations all = correlations_of(result);
  const auto [first, last] = std::ranges::minmax(all.layers);
  const PanelFlow flow{
      .grid = {.panel = {1.95, 1.9}, .gap = {0.22, 0.85}, .margin = {.left = 0.62, .right = 0.62, .top = 0.28}},
      .in_row = 4,
      .least = 1.3,
      .color_steps = std::min(static_cast<std::size_t>(last - first) + 1, most_steps)};
  return drawn_panels(flow, all.truncations.size(), options.style,
                      [&](Page& page, Panel& panel, std::size_t r) { add_correlations(page, panel, all, r); });
}

}  // namespace

FigureKind position_components_figure() {
  return {.name = "position_components",
          .fields = {components_name},
          .caption =
              "How many principal components the position table needs: share of its variance, column means taken away, "
              "along the largest components together, against their number (logarithmic). Dots mark the 4 and 12 "
              "components that the paper names.",
          .drawing = draw_position_components};
}

FigureKind position_correlation_figure() {
  return {
      .name = "position_correlation",
      .fields = {canonical_name, canonical_mean_name, canonical_largest_name},
      .caption =
          "Canonical correlations (1) of the hidden states that enter each layer with the positions, over all tokens "
          "of all documents; a panel for each number of the positions' principal components kept. Grey: what shuffled "
          "positions reach, the largest of all draws and layers, and dotted their mean.",
      .drawing = draw_position_correlation};
}

}  // namespace headwave
