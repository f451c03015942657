#include "position_split_figure.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "../drawing/page.h"
#include "../drawing/pixels.h"
#include "layer_bars.h"
#include "layer_split.h"

namespace headwave {

namespace {

constexpr std::size_t pixel_rows = 4;  // of a layer

const std::array inks{categorical(0), categorical(4), ink::rest};

/// One part's piece of every bar.
DataTable bars_of(const LayerSplit& split, std::size_t part) {
  DataTable table = layer_bars();
  for (std::size_t layer = 0; layer < split.layers.size(); ++layer) {
    double left = 0.0;
    for (std::size_t before = 0; before < part; ++before) left += split.share[before][layer];
    add_bar(table, layer, left, left + split.share[part][layer]);
  }
  return table;
}

DataTable noise_of(const LayerSplit& split) {
  DataTable table({"share", "row"});
  for (std::size_t layer = 0; layer < std::min(split.noise.size(), split.layers.size()); ++layer)
    table.add_row({split.noise[layer], static_cast<double>(layer) - 0.4});
  return table;
}

DataTable numbers_of(const LayerSplit& split) {
  DataTable table({"layer", "quantity", "frequency", "value"});
  for (std::size_t layer = 0; layer < split.layers.size(); ++layer) {
    for (std::size_t part = 0; part < state_parts.size(); ++part)
      table.add_row(
          {split.layers[layer], fmt::format("{} share", state_parts[part]), std::nan(""), split.share[part][layer]});
    if (layer < split.noise.size())
      table.add_row({split.layers[layer], "noise share", std::nan(""), split.noise[layer]});
    for (std::size_t column = 0; column < split.columns(); ++column)
      table.add_row({split.layers[layer], "amplitude", split.frequency(column), split.cell(layer, column)});
  }
  return table;
}

DataTable pixels_of(const LayerSplit& split, const ValueRange& range) {
  const auto amount = [&](std::size_t column, std::size_t layer) {
    const double value = split.cell(layer, column);
    return std::isnan(value) ? value : std::max(value, range.low);
  };
  const auto frequency = [&](double column) { return split.frequency(0) + static_cast<double>(split.step) * column; };
  return pixels({split.columns(), split.layers.size(), amount, frequency, [](double layer) { return layer; }},
                std::clamp<std::size_t>(512 / split.columns(), 2, 8), pixel_rows);
}

/// Bars and map beside each other, or below where a page is too narrow.
PanelGrid split_grid(std::size_t layers, const FigureStyle& style) {
  PanelGrid grid;
  grid.columns = 2;
  grid.panel_width = 2.55;
  grid.panel_height =
      std::max(1.15, static_cast<double>(layers) * std::clamp(2.6 / static_cast<double>(layers), 0.08, 0.28));
  grid.gap_x = 0.3;
  grid.gap_y = 0.8;
  grid.left = 0.5;
  grid.right = 0.86;
  grid.top = 0.34;
  grid.bottom = 0.48;
  return fitted(grid, 2, 1.9, style);
}

/// Above the bars: what their colours are.
void add_legend(Panel& panel, const PanelGrid& grid, bool noise) {
  constexpr std::array places{0.06, 0.68, 1.24};
  const double y = grid.panel_bottom(0) + grid.panel_height + 0.15;
  for (std::size_t part = 0; part < state_parts.size(); ++part) {
    panel.mark(grid.at(grid.left + places[part], y), {inks[part], 1, Shape::square});
    panel.note(state_parts[part], grid.at(grid.left + places[part] + 0.09, y), {.points = 7});
  }
  if (!noise) return;
  panel.segment(grid.at(grid.left + 1.84, y - 0.06), grid.at(grid.left + 1.84, y + 0.06), {ink::text, 1.6});
  panel.note("noise alone", grid.at(grid.left + 1.9, y), {.points = 7});
}

void add_bars(Page& page, const LayerSplit& split) {
  Panel& panel = page.panel(0, 0);
  add_layer_axis(panel, page.grid(), split.layers, true);
  panel.title_below("share of the hidden states' variance");
  add_legend(panel, page.grid(), !split.noise.empty());
  panel.x_axis({0, 1}, {.step = 0.2, .first = 0});
  for (std::size_t part = 0; part < state_parts.size(); ++part)
    panel.boxes(page.data(bars_of(split, part)), "1:2:3:4:5:6", inks[part]);
  if (!split.noise.empty()) panel.strokes(page.data(noise_of(split)), "1:2:(0):(0.8)", {ink::text, 1.6});
}

void add_spectrum(Page& page, const LayerSplit& split) {
  const PanelGrid& grid = page.grid();
  const ValueRange range = amplitude_range(split);
  const double last = static_cast<double>(split.columns() * split.step) + 0.5;
  const double left = grid.panel_left(grid.column_of(1)), bottom = grid.panel_bottom(grid.row_of(1));
  Panel& panel = page.panel(1);
  add_layer_axis(panel, grid, split.layers, grid.column_of(1) == 0);
  panel.title_below(fmt::format("frequency f (cycles/T, T = {:g})", split.span.length));
  panel.note("spectrum of the position part", grid.at(left, bottom + grid.panel_height + 0.15), {.points = 7});
  panel.x_axis({0.5, last}, {.step = tic_step(last)});
  panel.color_range(range, true);
  panel.color_bar({.x = left + grid.panel_width + 0.08,
                   .y = bottom,
                   .height = grid.panel_height,
                   .tics = {.named = round_tics(range), .points = 6, .away = 0.6},
                   .title = "mean |DFT| over columns",
                   .title_right = 0.2});
  panel.heat_map(page.data(pixels_of(split, range)));
}

GnuplotFigure draw_position_split(const Result& result, const FigureOptions& options) {
  const LayerSplit split = layer_split(result);
  Page page(split_grid(split.layers.size(), options.style), options.style);
  page.keep(numbers_of(split));
  add_bars(page, split);
  add_spectrum(page, split);
  return page.figure();
}

}  // namespace

FigureKind position_split_figure() {
  return {"position_split",
          {"position_split/variance_share", "position_split/spectrum"},
          {"position_split/noise_share"},
          "What hidden states are made of. Left: shares of their variance that depend on position alone, on the text "
          "alone, and on neither alone; the mark is what noise alone would put into the position part. Right: "
          "amplitude spectrum of the position part, absolute discrete Fourier transform over positions, not "
          "normalised, mean over columns, colours logarithmic. Frequency 0 is left out; where there are more than 512, "
          "neighbours "
          "share a column, which shows the largest.",
          draw_position_split};
}

}  // namespace headwave
