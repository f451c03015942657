#include "phase_spectrum_figure.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "../drawing/page.h"
#include "../drawing/pixels.h"
#include "chosen_heads.h"
#include "cluster_peaks.h"
#include "phase_maps.h"
#include "phase_ridges.h"

namespace headwave {

namespace {

using std::numbers::pi;

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

/// Two rows of pixels make up a bin's height, since one bin may lie half at the upper and half at the lower end of the
/// picture.
DataTable pixels_of(const PhaseMaps& maps, std::size_t side, std::size_t row) {
  const auto phase_of = [&](double half) { return -pi + maps.bin() * (half + 0.5) / 2; };
  const auto amount = [&](std::size_t column, std::size_t half) {
    return maps.cell(side, row, column, maps.phase_at(phase_of(static_cast<double>(half))));
  };
  const auto frequency = [&](double column) { return maps.frequency(0) + static_cast<double>(maps.step) * column; };
  return pixels({maps.columns(), 2 * maps.phases.size(), amount, frequency, phase_of},
                std::clamp<std::size_t>(300 / maps.columns(), 1, 3), 1);
}

/// Queries and keys of a head beside each other, or below where a page is too narrow.
PanelGrid phase_grid(std::size_t heads, bool labels_above, const FigureStyle& style) {
  PanelGrid grid;
  grid.columns = 2;
  grid.panel_width = 2.45;
  grid.panel_height = 1.35;
  grid.gap_x = 0.5;
  grid.gap_y = labels_above ? 0.54 : 0.3;
  grid.left = 0.62;
  grid.right = 1.04;
  grid.top = labels_above ? 0.38 : 0.26;
  grid.bottom = labels_above ? 0.64 : 0.5;
  return fitted(flowing(grid, 2 * heads, 2), 2 * heads, 1.7, style);
}

/// What stands above the panels of a head, `height` inches over the frame.
void add_title(Panel& panel, const PanelGrid& grid, std::size_t k, const ChosenHead& head, double height) {
  const double left = grid.panel_left(grid.column_of(k));
  const double y = grid.panel_bottom(grid.row_of(k)) + grid.panel_height + height;
  if (k % 2 == 0)
    panel.note(head_name(head.name.layer, head.name.head), grid.at(left, y), {.points = 8.5, .bold = true});
  else
    panel.note(std::isnan(head.measured) ? "no measured offset"
                                         : fmt::format("measured offset t = {}", signed_offset(head.measured)),
               grid.at(left, y), {.points = 7});
  panel.note(k % 2 == 0 ? "queries Q p" : "keys K p", grid.at(left + grid.panel_width, y),
             {.points = 7, .anchor = Anchor::right});
}

/// Where a ridge is named, and how the name stands there.
void add_name(Panel& panel, const PhaseRidge& ridge) {
  Letters letters{.points = 6, .bold = ridge.measured, .ink = ridge.measured ? ink::mark : ink::note};
  Place place{share(1), value(ridge.phase)};
  if (ridge.leaves == Leaves::right) {
    letters.right = 0.5;
  } else {
    const bool above = ridge.leaves == Leaves::above;
    place = {value(ridge.frequency), share(above ? 1 : 0)};
    letters.anchor = Anchor::center;
    letters.up = above ? 0.45 : -0.55;
  }
  panel.note("t* = " + signed_offset(-ridge.delta), place, letters);
}

void add_axes(Panel& panel, const PanelGrid& grid, const PhaseMaps& maps, std::size_t k, bool labels_above) {
  const bool lowest = grid.row_of(k) + 1 == grid.rows, leftmost = grid.column_of(k) == 0;
  if (leftmost) panel.title_left("phase θ (rad)", 0.46);
  if (lowest) panel.title_below(fmt::format("frequency f (cycles/T, T = {:g})", maps.span.length), grid.bottom - 0.12);
  panel.tic_length(0.3);
  panel.x_axis({0.5, maps.end()}, {.step = tic_step(maps.end()),
                                   .numbers = lowest ? Numbers::plain : Numbers::none,
                                   .away = labels_above ? 0.5 : -0.2});
  std::vector<Tic> phases{{-pi, "−π"}, {-pi / 2, "−π/2"}, {0, "0"}, {pi / 2, "π/2"}, {pi, "π"}};
  if (!leftmost)
    for (Tic& tic : phases) tic.name.clear();
  panel.y_axis({-pi, pi}, {.named = phases});
}

/// One side of a head: even panels are its queries, odd ones its keys.
void add_panel(Page& page, const PhaseMaps& maps, const ChosenHead& head, std::size_t k, bool labels_above) {
  const PanelGrid& grid = page.grid();
  const std::size_t side = k % 2;
  Panel& panel = page.panel(k);
  add_title(panel, grid, k, head, labels_above ? 0.26 : 0.12);
  add_axes(panel, grid, maps, k, labels_above);
  const double bright = bright_amplitude(maps, head.row);
  panel.color_range({0, bright});
  if (side == 0)  // right of the last column, for both
    panel.color_bar({.x = grid.panel_left(grid.columns - 1) + grid.panel_width + 0.44,
                     .y = grid.panel_bottom(grid.row_of(k)),
                     .height = grid.panel_height,
                     .tics = {.step = tic_step(bright), .first = 0, .points = 6, .away = 0.6},
                     .title = "amplitude |DFT|",
                     .title_right = -0.6});
  page.keep(numbers_of(maps, side, head));
  panel.heat_map(page.data(pixels_of(maps, side, head.row)));
  for (const PhaseRidge& ridge :
       phase_ridges({0.5, maps.end(), maps.span.length}, head.measured, 0.36 / grid.panel_width)) {
    panel.curve(page.data(ridge.line), "1:2",
                ridge.measured ? Line{ink::strong_guide, 1} : Line{ink::faint_guide, 0.9, "-"});
    if (ridge.labelled) add_name(panel, ridge);
  }
}

GnuplotFigure draw_phase_spectrum(const Result& result, const FigureOptions& options) {
  const auto heads = chosen_heads(result, phase_map_names[0], options);
  std::vector<std::size_t> rows;
  for (const ChosenHead& head : heads) rows.push_back(head.row);
  const PhaseMaps maps = phase_maps(result, rows);
  bool labels_above = false;
  for (const ChosenHead& head : heads)
    for (const PhaseRidge& ridge : phase_ridges({0.5, maps.end(), maps.span.length}, head.measured, 0))
      labels_above = labels_above || ridge.leaves != Leaves::right;
  Page page(phase_grid(heads.size(), labels_above, options.style), options.style);
  for (std::size_t k = 0; k < 2 * heads.size(); ++k) add_panel(page, maps, heads[k / 2], k, labels_above);
  return page.figure();
}

}  // namespace

FigureKind phase_spectrum_figure() {
  return {"phase_spectrum",
          {"phase_spectrum/query", "phase_spectrum/key"},
          {"measured_offset/offset", "measured_offset/weight", "measured_offset/threshold"},
          "Energy of single heads in frequency and phase: absolute discrete Fourier transform of redefined queries and "
          "keys along the directions p whose phase θ (rad) lies in a bin, not normalised, mean over documents. On the "
          "ridge θ = 2πfΔ/T all waves are shifted by Δ tokens, so that the head attends to t* = −Δ; the solid one is "
          "the measured offset's. Each head has one colour scale, whose end 0.1 % of the cells exceed. Frequency 0 is "
          "left out.",
          draw_phase_spectrum};
}

}  // namespace headwave
