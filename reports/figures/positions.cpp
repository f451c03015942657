// The position table, and what of the positions is left in hidden states.
#include "positions.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../../core/fields/field_reader.h"
#include "../drawing/page.h"
#include "kinds.h"
#include "layer_bars.h"

namespace headwave {

namespace {

constexpr const char *components_name = "position_components/cumulative_share",
                     *canonical_name = "position_correlation/correlation",
                     *canonical_mean_name = "position_correlation/chance_mean",
                     *canonical_largest_name = "position_correlation/chance_largest",
                     *split_name = "position_split/variance_share", *split_spectrum_name = "position_split/spectrum",
                     *split_noise_name = "position_split/noise_share";
constexpr std::array named_counts{4.0, 12.0};
constexpr std::size_t most_columns = 512;  // of the spectra's cells
constexpr double darkest = 1e-3;           // of the largest amplitude

GnuplotFigure draw_position_components(const Result& result, const FigureOptions& options) {
  const auto& shares = doubles_of(result, components_name, {"component"});
  const auto counts = coordinates(result.at(components_name), "component");
  if (!(counts.front() > 0)) throw ShapeError(fmt::format("{}: holds no components to draw", components_name));
  const PanelGrid grid =
      fitted({.panel = {4.4, 2.3}, .margin = {.left = 0.66, .right = 0.2, .top = 0.12}}, 1, 1.0, options.style);
  Page page(grid, options.style);
  Panel& panel = page.panel(0);
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
    const bool named = std::ranges::find(named_counts, counts[i]) != named_counts.end();
    if (named && shares[i] >= 0 && shares[i] <= 1.01)  // the curve rises, so there is room below it
      panel.mark({value(counts[i]), value(percent)}, {ink::mark, 0.45},
                 fmt::format("{:g} components: {:.1f} %", counts[i], percent),
                 {.ink = ink::mark, .right = 0.8, .up = -0.5, .front = true});
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

void add_correlations(Page& page, const Correlations& all, std::size_t r) {
  const auto [first, last] = std::ranges::minmax(all.layers);
  const PanelGrid& grid = page.grid();
  const Index span = last - first;
  const auto components = static_cast<double>(std::max<Index>(1, std::min(all.truncations[r], all.components.back())));
  const bool leftmost = grid.column_of(r) == 0;
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
  panel.color_range({static_cast<double>(first) - 0.5, static_cast<double>(last) + 0.5});
  if (r == 0) {  // which colour is which layer, right of the first row
    panel.note("layer", grid.at(grid.width() - 0.4, grid.height() - 0.13), {.anchor = Anchor::center});
    const double step = span < 12 ? 1.0 : span < 24 ? 2.0 : static_cast<double>(std::max<Index>(4, span / 8));
    panel.color_bar({.away = grid.width() - grid.margin.right + 0.12 - grid.margin.left - grid.panel.width,
                     .width = 0.12,
                     .tics = {.step = step, .first = static_cast<double>(first), .numbers = Numbers::plain}});
    panel.note("positions shuffled", {share(0.05), share(0.07)}, {.points = 7, .ink = ink::note, .front = true});
  }
  add_chance(page, panel, all, r);
  add_layers(page, panel, all, r);
}

GnuplotFigure draw_position_correlation(const Result& result, const FigureOptions& options) {
  constexpr Index most_steps = 127;  // of the colours
  const Correlations all = correlations_of(result);
  const auto [first, last] = std::ranges::minmax(all.layers);
  const std::size_t panels = all.truncations.size();
  const PanelGrid grid{.panel = {1.95, 1.9}, .gap = {0.22, 0.85}, .margin = {.left = 0.62, .right = 0.62, .top = 0.28}};
  Page page(fitted(flowing(grid, panels, 4), panels, 1.3, options.style), options.style);
  page.step_colors(std::min(last - first, most_steps) + 1);
  for (std::size_t r = 0; r < panels; ++r) add_correlations(page, all, r);
  return page.figure();
}

const std::array part_inks{categorical(0), categorical(4), ink::rest};

DataTable split_numbers(const LayerSplit& split) {
  DataTable table({"layer", "quantity", "frequency", "value"});
  for (std::size_t layer = 0; layer < split.layers.size(); ++layer) {
    const auto add = [&](const std::string& quantity, double frequency, double number) {
      table.add_row({split.layers[layer], quantity, frequency, number});
    };
    for (std::size_t part = 0; part < state_parts.size(); ++part)
      add(fmt::format("{} share", state_parts[part]), std::nan(""), split.share[part][layer]);
    if (!split.noise.empty()) add("noise share", std::nan(""), split.noise[layer]);
    for (std::size_t column = 0; column < split.columns(); ++column)
      add("amplitude", split.frequency(column), split.cell(layer, column));
  }
  return table;
}

/// Shares of the variance of each layer's states, and above the bars what their colours are.
void add_shares(Page& page, const LayerSplit& split) {
  constexpr std::array places{0.06, 0.68, 1.24};
  Panel& panel = page.panel(0);
  add_layer_axis(panel, page.grid(), split.layers, true);
  panel.title_below("share of the hidden states' variance");
  for (std::size_t part = 0; part < state_parts.size(); ++part) {
    panel.mark(panel.over(places[part], 0.15), {part_inks[part], 1, Shape::square});
    panel.note(state_parts[part], panel.over(places[part] + 0.09, 0.15), {.points = 7});
  }
  panel.x_axis({0, 1}, {.step = 0.2, .first = 0});
  std::vector<double> left(split.layers.size(), 0.0);
  for (std::size_t part = 0; part < state_parts.size(); ++part) {
    DataTable bars = layer_bars();
    for (std::size_t layer = 0; layer < left.size(); ++layer) {
      const double right = left[layer] + split.share[part][layer];
      add_bar(bars, layer, left[layer], right);
      left[layer] = right;
    }
    panel.boxes(page.data(bars), "1:2:3:4:5:6", part_inks[part]);
  }
  if (split.noise.empty()) return;
  panel.segment(panel.over(1.84, 0.09), panel.over(1.84, 0.21), {ink::text, 1.6});
  panel.note("noise alone", panel.over(1.9, 0.15), {.points = 7});
  DataTable noise({"share", "row"});
  for (std::size_t layer = 0; layer < split.layers.size(); ++layer)
    noise.add_row({split.noise[layer], static_cast<double>(layer) - 0.4});
  panel.strokes(page.data(noise), "1:2:(0):(0.8)", {ink::text, 1.6});
}

void add_spectra(Page& page, const LayerSplit& split) {
  const PanelGrid& grid = page.grid();
  const ValueRange range = amplitude_range(split);
  const double last = static_cast<double>(split.columns() * split.step) + 0.5;
  Panel& panel = page.panel(1);
  add_layer_axis(panel, grid, split.layers, grid.column_of(1) == 0);
  panel.title_below(fmt::format("frequency f (cycles/T, T = {:g})", split.span.length));
  panel.note("spectrum of the position part", panel.over(0, 0.15), {.points = 7});
  panel.x_axis({0.5, last}, {.step = tic_step(last)});
  panel.color_range(range, true);
  panel.color_bar({.tics = {.named = round_tics(range), .points = 6, .away = 0.6},
                   .title = "mean |DFT| over columns",
                   .title_right = 0.2});
  const auto amount = [&](std::size_t column, std::size_t layer) {
    const double amplitude = split.cell(layer, column);
    return std::isnan(amplitude) ? amplitude : std::max(amplitude, range.low);
  };
  const auto frequency = [&](double column) { return split.frequency(0) + static_cast<double>(split.step) * column; };
  panel.heat_map(page.data(pixels({split.columns(), split.layers.size(), amount, frequency},
                                  std::clamp<std::size_t>(512 / split.columns(), 2, 8), 4)));
}

/// Bars and map beside each other, or below where a page is too narrow.
GnuplotFigure draw_position_split(const Result& result, const FigureOptions& options) {
  const LayerSplit split = layer_split(result);
  const auto layers = static_cast<double>(split.layers.size());
  const PanelGrid grid{.columns = 2,
                       .panel = {2.55, std::max(1.15, layers * std::clamp(2.6 / layers, 0.08, 0.28))},
                       .gap = {0.3, 0.8},
                       .margin = {.left = 0.5, .right = 0.86, .top = 0.34, .bottom = 0.48}};
  Page page(fitted(grid, 2, 1.9, options.style), options.style);
  page.keep(split_numbers(split));
  add_shares(page, split);
  add_spectra(page, split);
  return page.figure();
}

}  // namespace

std::size_t LayerSplit::columns() const {
  return std::max<std::size_t>(1, (span.count - 1 + step - 1) / step);
}

double LayerSplit::cell(std::size_t layer, std::size_t column) const {
  double largest = std::nan("");
  for (std::size_t f = 1 + column * step; f < std::min(span.count, 1 + (column + 1) * step); ++f)
    if (const double amplitude = (*spectrum)[layer * span.count + f]; std::isfinite(amplitude) && amplitude > 0)
      largest = std::fmax(largest, amplitude);
  return largest;
}

LayerSplit layer_split(const Result& result) {
  const auto& shares = doubles_of(result, split_name, {"layer", "part"});
  const Field& field = result.at(split_name);
  LayerSplit split;
  split.layers = whole_coordinates(field, "layer");
  const std::size_t parts = labels_of(field, "part").size();
  for (std::size_t part = 0; part < state_parts.size(); ++part) {
    const std::size_t place = place_of(field, "part", state_parts[part]);
    for (std::size_t layer = 0; layer < split.layers.size(); ++layer)
      split.share[part].push_back(shares[layer * parts + place]);
  }
  split.spectrum = &doubles_of(result, split_spectrum_name, {"layer", "frequency"});
  split.span = frequency_span(result.at(split_spectrum_name), "T");
  split.step = std::max<std::size_t>(1, (split.span.count - 1 + most_columns - 1) / most_columns);
  if (result.find(split_noise_name) != nullptr) split.noise = doubles_of(result, split_noise_name, {"layer"});
  return split;
}

ValueRange amplitude_range(const LayerSplit& split) {
  double low = std::nan(""), high = 0.0;
  for (std::size_t layer = 0; layer < split.layers.size(); ++layer)
    for (std::size_t column = 0; column < split.columns(); ++column)
      if (const double amplitude = split.cell(layer, column); amplitude > 0) {
        low = std::fmin(low, amplitude);
        high = std::max(high, amplitude);
      }
  if (!(high > 0)) return {0.1, 1.0};
  return {std::min(std::max(low, high * darkest), high / 2.5), high};
}

FigureKind position_components_figure() {
  return {"position_components",
          {components_name},
          {},
          "How many principal components the position table needs: share of its variance, column means taken away, "
          "along the largest components together, against their number (logarithmic). Dots mark the 4 and 12 "
          "components that the paper names.",
          draw_position_components};
}

FigureKind position_correlation_figure() {
  return {"position_correlation",
          {canonical_name, canonical_mean_name, canonical_largest_name},
          {},
          "Canonical correlations (1) of the hidden states that enter each layer with the positions, over all tokens "
          "of all documents; a panel for each number of the positions' principal components kept. Grey: what shuffled "
          "positions reach, the largest of all draws and layers, and dotted their mean.",
          draw_position_correlation};
}

FigureKind position_split_figure() {
  return {"position_split",
          {split_name, split_spectrum_name},
          {split_noise_name},
          "What hidden states are made of. Left: shares of their variance that depend on position alone, on the text "
          "alone, and on neither alone; the mark is what noise alone would put into the position part. Right: "
          "amplitude spectrum of the position part, absolute discrete Fourier transform over positions, not "
          "normalised, mean over columns, colours logarithmic. Frequency 0 is left out; where there are more than 512, "
          "neighbours share a column, which shows the largest.",
          draw_position_split};
}

}  // namespace headwave
