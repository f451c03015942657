#include "position_split_figure.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "../drawing/palette.h"
#include "../drawing/panels.h"
#include "layer_split.h"

namespace headwave {

namespace {

constexpr std::array colors{"#0072B2", "#E69F00", "#CFCFCF"};

/// One part's piece of every bar.
DataTable bars_of(const LayerSplit& split, std::size_t part) {
  DataTable table({"middle", "row", "left", "right", "bottom", "top"});
  for (std::size_t layer = 0; layer < split.layers.size(); ++layer) {
    double left = 0.0;
    for (std::size_t before = 0; before < part; ++before) left += split.share[before][layer];
    const double right = left + split.share[part][layer];
    const auto row = static_cast<double>(layer);
    table.add_row({(left + right) / 2, row, left, right, row - 0.4, row + 0.4});
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

/// Two rows and columns of pixels to a cell at least: gnuplot draws no image of one.
DataTable pixels_of(const LayerSplit& split, const ValueRange& range) {
  const auto block = std::clamp<std::size_t>(512 / split.columns(), 2, 8);
  const auto inside = [](std::size_t pixel, std::size_t count) {
    return (static_cast<double>(pixel % count) + 0.5) / static_cast<double>(count) - 0.5;
  };
  constexpr std::size_t high = 4;
  const auto step = static_cast<double>(split.step);
  DataTable table({"frequency", "row", "amplitude"});
  for (std::size_t y = 0; y < split.layers.size() * high; ++y)
    for (std::size_t x = 0; x < split.columns() * block; ++x) {
      const double value = split.cell(y / high, x / block);
      table.add_row({split.frequency(x / block) + step * inside(x, block),
                     static_cast<double>(y / high) + inside(y, high),
                     std::isnan(value) ? value : std::max(value, range.low)});
    }
  return table;
}

PanelGrid grid_of(std::size_t layers) {
  PanelGrid grid;
  grid.columns = 2;
  grid.panel_width = 2.55;
  grid.panel_height =
      std::max(1.15, static_cast<double>(layers) * std::clamp(2.6 / static_cast<double>(layers), 0.08, 0.28));
  grid.gap_x = 0.3;
  grid.left = 0.5;
  grid.right = 0.86;
  grid.top = 0.34;
  grid.bottom = 0.48;
  return grid;
}

std::string layer_tics(const std::vector<Index>& layers, double row_height) {
  const auto every = static_cast<std::size_t>(std::max(1.0, std::ceil(0.13 / row_height)));
  std::string list;
  for (std::size_t i = 0; i < layers.size(); i += every)
    list += fmt::format("{}\"{}\" {}", i == 0 ? "" : ", ", layers[i], i);
  return "(" + list + ")";
}

/// 1, 2 and 5 times powers of ten within a range.
std::string round_numbers(const ValueRange& range) {
  std::string list;
  for (double power = std::pow(10.0, std::floor(std::log10(range.low))); power <= range.high; power *= 10)
    for (const int digit : {1, 2, 5})
      if (const double number = digit * power; number >= range.low * 0.999 && number <= range.high * 1.001)
        list += fmt::format("{}\"{:g}\" {}", list.empty() ? "" : ", ", number, number);
  return "(" + list + ")";
}

/// Above the bars: what their colours are.
std::string legend(const PanelGrid& grid, bool noise) {
  constexpr std::array places{0.06, 0.68, 1.24};
  const double y = grid.panel_bottom(0) + grid.panel_height + 0.15;
  std::string commands;
  for (std::size_t part = 0; part < state_parts.size(); ++part)
    commands += fmt::format(
        "set label \"\" at {} point pt 5 ps 1 lc rgb \"{}\"\nset label \"{}\" at {} left font \"sans-serif,7\"\n",
        grid.page(grid.left + places[part], y), colors[part], state_parts[part],
        grid.page(grid.left + places[part] + 0.09, y));
  if (noise)
    commands += fmt::format(
        "set arrow from {} to {} nohead lc rgb \"#000000\" lw 1.6\nset label \"noise alone\" at {} left font "
        "\"sans-serif,7\"\n",
        grid.page(grid.left + 1.84, y - 0.06), grid.page(grid.left + 1.84, y + 0.06), grid.page(grid.left + 1.9, y));
  return commands;
}

}  // namespace

GnuplotFigure position_split_figure(const Result& result, const FigureOptions& /*options*/) {
  const LayerSplit split = layer_split(result);
  const auto layers = static_cast<double>(split.layers.size());
  const PanelGrid grid = grid_of(split.layers.size());
  const ValueRange range = amplitude_range(split);
  GnuplotFigure figure(grid.width(), grid.height());
  figure.keep(numbers_of(split));
  figure.add(house_style() + "\n" + sequential_palette());
  figure.add(
      fmt::format("set multiplot\nset tics scale 0.3,0.1\nset yrange [{}:-0.5]\nset ytics {} font \"sans-serif,7\"",
                  layers - 0.5, layer_tics(split.layers, grid.panel_height / layers)));
  figure.add(grid.place(0, 0) + "\n" + grid.title_left(0, 0, "layer", 0.34) + "\n" +
             grid.title_below(0, 0, "share of the hidden states' variance") + "\n" +
             legend(grid, !split.noise.empty()));
  figure.add("set xrange [0:1]\nset xtics 0,0.2\nset style fill solid 1 noborder");
  std::string plot = "plot ";
  for (std::size_t part = 0; part < state_parts.size(); ++part)
    plot += fmt::format("{}\"{}\" using 1:2:3:4:5:6 with boxxyerror fc rgb \"{}\"", part == 0 ? "" : ", ",
                        figure.add_data(bars_of(split, part)), colors[part]);
  if (!split.noise.empty())
    plot += fmt::format(", \"{}\" using 1:2:(0):(0.8) with vectors nohead lc rgb \"#000000\" lw 1.6",
                        figure.add_data(noise_of(split)));
  figure.add(plot + "\nunset label\nunset arrow");

  const double last = static_cast<double>(split.columns() * split.step) + 0.5;
  figure.add(grid.place(0, 1) + "\n" +
             grid.title_below(0, 1, fmt::format("frequency f (cycles/T, T = {:g})", split.span.length)));
  figure.add(fmt::format("set label \"spectrum of the position part\" at {} left font \"sans-serif,7\"",
                         grid.page(grid.panel_left(1), grid.panel_bottom(0) + grid.panel_height + 0.15)));
  figure.add(fmt::format("set xrange [0.5:{}]\nset xtics {}\nset format y \"\"", last, tic_step(last)));
  figure.add(fmt::format(
      "set colorbox vertical user origin {} size {:.6f},{:.6f} border\nset logscale cb\nset cbrange [{}:{}]\n"
      "set cbtics {} font \"sans-serif,6\" offset -0.6,0 scale 0.4\n"
      "set cblabel \"mean |DFT| over columns\" font \"sans-serif,6.5\" offset 0.2,0",
      grid.page(grid.panel_left(1) + grid.panel_width + 0.08, grid.panel_bottom(0)), 0.08 / grid.width(),
      grid.panel_height / grid.height(), range.low, range.high, round_numbers(range)));
  figure.add(
      fmt::format("plot \"{}\" using 1:2:3 with image\nunset multiplot", figure.add_data(pixels_of(split, range))));
  return figure;
}

}  // namespace headwave
