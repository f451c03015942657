#include "phase_spectrum_figure.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "../drawing/palette.h"
#include "../drawing/panels.h"
#include "chosen_heads.h"
#include "cluster_peaks.h"
#include "phase_maps.h"
#include "phase_ridges.h"

namespace headwave {

namespace {

constexpr double pi = std::numbers::pi;

/// Phases at which no direction of the head lies are left out: most are such.
DataTable numbers_of(const PhaseMaps& maps, std::size_t side, const ChosenHead& head) {
  DataTable table({"layer", "head", "side", "frequency", "phase", "amplitude"});
  for (std::size_t phase = 0; phase < maps.phases.size(); ++phase) {
    bool any = false;
    for (std::size_t column = 0; column < maps.columns() && !any; ++column)
      any = maps.cell(side, head.row, column, phase) > 0;
    for (std::size_t column = 0; column < maps.columns() && any; ++column)
      table.add_row({head.name.layer, head.name.head, side == 0 ? "query" : "key", maps.frequency(column),
                     maps.phases[phase], maps.cell(side, head.row, column, phase)});
  }
  return table;
}

/// Every cell as a block of pixels: viewers that smooth small images then soften edges only. Two of them make up a bin's
/// height, since one bin may lie half at the upper and half at the lower end of the picture.
DataTable pixels_of(const PhaseMaps& maps, std::size_t side, std::size_t row) {
  const auto block = std::clamp<std::size_t>(300 / maps.columns(), 1, 3);
  const auto inside = [block](std::size_t pixel) {
    return (static_cast<double>(pixel % block) + 0.5) / static_cast<double>(block) - 0.5;
  };
  DataTable table({"frequency", "phase", "amplitude"});
  for (std::size_t y = 0; y < 2 * maps.phases.size(); ++y) {
    const double phase = -pi + maps.bin() * (static_cast<double>(y) + 0.5) / 2;
    for (std::size_t x = 0; x < maps.columns() * block; ++x)
      table.add_row({maps.frequency(x / block) + static_cast<double>(maps.step) * inside(x), phase,
                     maps.cell(side, row, x / block, maps.phase_at(phase))});
  }
  return table;
}

PanelGrid grid_of(std::size_t heads, bool labels_above) {
  PanelGrid grid;
  grid.columns = 2;
  grid.rows = static_cast<Index>(heads);
  grid.panel_width = 2.45;
  grid.panel_height = 1.35;
  grid.gap_x = 0.5;
  grid.gap_y = labels_above ? 0.54 : 0.3;
  grid.left = 0.62;
  grid.right = 1.04;
  grid.top = labels_above ? 0.38 : 0.26;
  grid.bottom = labels_above ? 0.64 : 0.5;
  return grid;
}

/// A colour bar right of the keys, which serves the queries too.
std::string color_bar(const PanelGrid& grid, Index row, double top) {
  const double x = grid.panel_left(1) + grid.panel_width + 0.44;
  return fmt::format(
      "set colorbox vertical user origin {} size {:.6f},{:.6f} border\n"
      "set cbrange [0:{}]\nset cbtics 0,{} font \"sans-serif,6\" offset -0.6,0 scale 0.4\n"
      "set cblabel \"amplitude |DFT|\" font \"sans-serif,6.5\" offset -0.6,0",
      grid.page(x, grid.panel_bottom(row)), 0.08 / grid.width(), grid.panel_height / grid.height(), top, tic_step(top));
}

/// What stands above the panels of a head, `height` inches over the frame.
std::string title(const PanelGrid& grid, Index row, Index column, const ChosenHead& head, double height) {
  const double y = grid.panel_bottom(row) + grid.panel_height + height;
  const std::string left = column == 0 ? head_name(head.name.layer, head.name.head)
                           : std::isnan(head.measured)
                               ? "no measured offset"
                               : fmt::format("measured offset t = {}", signed_offset(head.measured));
  return fmt::format("set label \"{}\" at {} left font \"sans-serif{}\"\n", left, grid.page(grid.panel_left(column), y),
                     column == 0 ? ":Bold,8.5" : ",7") +
         fmt::format("set label \"{}\" at {} right font \"sans-serif,7\"", column == 0 ? "queries Q p" : "keys K p",
                     grid.page(grid.panel_left(column) + grid.panel_width, y));
}

/// Where a ridge's label stands.
std::string label_place(const PhaseRidge& ridge) {
  if (ridge.leaves == Leaves::right) return fmt::format("graph 1, first {} left offset 0.5,0", ridge.phase);
  const bool above = ridge.leaves == Leaves::above;
  return fmt::format("first {}, graph {} center offset 0,{}", ridge.frequency, above ? 1 : 0, above ? 0.45 : -0.55);
}

/// The ridges and their labels, the measured one solid and in bold.
/// @returns what is appended to a plot command
std::string ridges(GnuplotFigure& figure, const PhaseMaps& maps, const ChosenHead& head, double panel_width) {
  std::string plot;
  for (const PhaseRidge& ridge : phase_ridges({0.5, maps.end(), maps.span.length}, head.measured, 0.36 / panel_width)) {
    plot += fmt::format(", \"{}\" using 1:2 with lines {}", figure.add_data(ridge.line),
                        ridge.measured ? "lc rgb \"#50ffffff\" lw 1" : "lc rgb \"#70ffffff\" lw 0.9 dt \"-\"");
    if (ridge.labelled)
      figure.add(fmt::format("set label \"t* = {}\" at {} font \"sans-serif{},6\" tc rgb \"{}\"",
                             signed_offset(-ridge.delta), label_place(ridge), ridge.measured ? ":Bold" : "",
                             ridge.measured ? "#D55E00" : "#505050"));
  }
  return plot;
}

/// One side of a head.
void add_panel(GnuplotFigure& figure, const PanelGrid& grid, const PhaseMaps& maps, const ChosenHead& head, Index row,
               Index column, bool labels_above) {
  const bool lowest = row + 1 == grid.rows;
  figure.add("unset label\n" + grid.place(row, column) + "\n" +
             title(grid, row, column, head, labels_above ? 0.26 : 0.12));
  if (column == 0) figure.add(grid.title_left(row, column, "phase θ (rad)", 0.46));
  if (lowest)
    figure.add(grid.title_below(row, column, fmt::format("frequency f (cycles/T, T = {:g})", maps.span.length),
                                grid.bottom - 0.12));
  figure.add(fmt::format("set format x \"{}\"\nset xtics {} offset 0,{}", lowest ? "%g" : "", tic_step(maps.end()),
                         labels_above ? -0.5 : 0.2));
  figure.add(column == 0
                 ? fmt::format("set ytics (\"−π\" {0}, \"−π/2\" {1}, \"0\" 0, \"π/2\" {2}, \"π\" {3})", -pi, -pi / 2,
                               pi / 2, pi)
                 : fmt::format("set ytics (\"\" {}, \"\" {}, \"\" 0, \"\" {}, \"\" {})", -pi, -pi / 2, pi / 2, pi));
  const auto side = static_cast<std::size_t>(column);
  figure.keep(numbers_of(maps, side, head));
  const std::string lines = ridges(figure, maps, head, grid.panel_width);
  figure.add(
      fmt::format("plot \"{}\" using 1:2:3 with image{}", figure.add_data(pixels_of(maps, side, head.row)), lines));
}

}  // namespace

GnuplotFigure phase_spectrum_figure(const Result& result, const FigureOptions& options) {
  const auto heads = chosen_heads(result, phase_map_names[0], options);
  std::vector<std::size_t> rows;
  for (const ChosenHead& head : heads) rows.push_back(head.row);
  const PhaseMaps maps = phase_maps(result, rows);
  bool labels_above = false;
  for (const ChosenHead& head : heads)
    for (const PhaseRidge& ridge : phase_ridges({0.5, maps.end(), maps.span.length}, head.measured, 0))
      labels_above = labels_above || ridge.leaves != Leaves::right;

  const PanelGrid grid = grid_of(heads.size(), labels_above);
  GnuplotFigure figure(grid.width(), grid.height());
  figure.add(house_style() + "\n" + sequential_palette());
  figure.add(fmt::format("set multiplot\nset tics scale 0.3,0.1\nset xrange [0.5:{}]\nset yrange [{}:{}]", maps.end(),
                         -pi, pi));
  for (std::size_t k = 0; k < heads.size(); ++k) {
    figure.add(color_bar(grid, static_cast<Index>(k), bright_amplitude(maps, heads[k].row)));
    add_panel(figure, grid, maps, heads[k], static_cast<Index>(k), 0, labels_above);
    figure.add("unset colorbox");  // one for both panels
    add_panel(figure, grid, maps, heads[k], static_cast<Index>(k), 1, labels_above);
  }
  figure.add("unset multiplot");
  return figure;
}

}  // namespace headwave
