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

constexpr double alike = 0.15;  // of the amplitudes: keys that differ by no more from the queries are not drawn

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

/// What is drawn, and how.
struct Phases {
  std::vector<ChosenHead> heads;
  PhaseMaps maps;
  std::vector<double> difference;  ///< (heads) between the maps of queries and of keys
  std::size_t sides = 1;           ///< panels of a head: queries alone where no head's keys differ from them
  bool labels_above = false;       ///< whether a ridge leaves its panel there
};

Phases phases_of(const Result& result, const FigureOptions& options) {
  Phases phases{.heads = chosen_heads(result, phase_map_names[0], options), .maps = {}, .difference = {}};
  std::vector<std::size_t> rows;
  for (const ChosenHead& head : phases.heads) rows.push_back(head.row);
  phases.maps = phase_maps(result, rows);
  for (const ChosenHead& head : phases.heads) {
    phases.difference.push_back(map_difference(phases.maps, head.row));
    if (phases.difference.back() > alike) phases.sides = 2;
    for (const PhaseRidge& ridge : phase_ridges({0.5, phases.maps.end(), phases.maps.span.length}, head.measured, 0))
      phases.labels_above = phases.labels_above || ridge.leaves != Leaves::right;
  }
  return phases;
}

/// Queries and keys of a head beside each other, or below where a page is too narrow; of queries alone two heads in a
/// row, each with its colours.
PanelGrid phase_grid(const Phases& phases, const FigureStyle& style) {
  const bool labels_above = phases.labels_above;
  const std::size_t panels = phases.heads.size() * phases.sides;
  PanelGrid grid;
  grid.panel_width = phases.sides == 2 ? 2.45 : 2.3;
  grid.panel_height = 1.35;
  grid.gap_x = phases.sides == 2 ? 0.5 : 1.34;
  grid.gap_y = labels_above ? 0.54 : 0.3;
  grid.left = 0.62;
  grid.right = 1.04;
  grid.top = labels_above ? 0.38 : 0.26;
  grid.bottom = labels_above ? 0.64 : 0.5;
  return fitted(flowing(grid, panels, 2), panels, 1.7, style);
}

/// What stands above a panel, `height` inches over the frame.
void add_title(Panel& panel, const PanelGrid& grid, const Phases& phases, std::size_t k, double height) {
  const ChosenHead& head = phases.heads[k / phases.sides];
  const double left = grid.panel_left(grid.column_of(k));
  const double y = grid.panel_bottom(grid.row_of(k)) + grid.panel_height + height;
  const bool keys = k % phases.sides == 1;
  if (!keys)
    panel.note(head_name(head.name.layer, head.name.head), grid.at(left, y), {.points = 8.5, .bold = true});
  else
    panel.note(std::isnan(head.measured) ? "no measured offset"
                                         : fmt::format("measured offset t = {}", signed_offset(head.measured)),
               grid.at(left, y), {.points = 7});
  const double apart = std::ceil(100 * phases.difference[k / phases.sides]);
  panel.note(phases.sides == 1 ? fmt::format("Q p; K p within {:.0f} %", apart)
             : keys            ? "keys K p"
                               : "queries Q p",
             grid.at(left + grid.panel_width, y), {.points = 7, .anchor = Anchor::right});
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

void add_axes(Panel& panel, const PanelGrid& grid, const PhaseMaps& maps, std::size_t k, bool lowest,
              bool labels_above) {
  const bool leftmost = grid.column_of(k) == 0;
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

/// One side of a head.
void add_panel(Page& page, const Phases& phases, std::size_t k) {
  const PanelGrid& grid = page.grid();
  const PhaseMaps& maps = phases.maps;
  const ChosenHead& head = phases.heads[k / phases.sides];
  const std::size_t side = k % phases.sides;
  Panel& panel = page.panel(k);
  add_title(panel, grid, phases, k, phases.labels_above ? 0.26 : 0.12);
  add_axes(panel, grid, maps, k, grid.is_lowest(k, phases.heads.size() * phases.sides), phases.labels_above);
  const double bright = bright_amplitude(maps, head.row);
  panel.color_range({0, bright});
  if (side == 0)  // right of the last column where there are keys, for both
    panel.color_bar(
        {.x = grid.panel_left(phases.sides == 2 ? grid.columns - 1 : grid.column_of(k)) + grid.panel_width + 0.44,
         .y = grid.panel_bottom(grid.row_of(k)),
         .height = grid.panel_height,
         .tics = {.step = tic_step(bright), .first = 0, .points = 6, .away = 0.6},
         .title = "amplitude |DFT|",
         .title_right = -0.6});
  page.keep(numbers_of(maps, side, head));
  if (phases.sides == 1) page.keep(numbers_of(maps, 1, head));
  panel.heat_map(page.data(pixels_of(maps, side, head.row)));
  for (const PhaseRidge& ridge :
       phase_ridges({0.5, maps.end(), maps.span.length}, head.measured, 0.36 / grid.panel_width)) {
    panel.curve(page.data(ridge.line), "1:2",
                ridge.measured ? Line{ink::strong_guide, 1} : Line{ink::faint_guide, 0.9, "-"});
    if (ridge.labelled) add_name(panel, ridge);
  }
}

GnuplotFigure draw_phase_spectrum(const Result& result, const FigureOptions& options) {
  const Phases phases = phases_of(result, options);
  Page page(phase_grid(phases, options.style), options.style);
  for (std::size_t k = 0; k < phases.heads.size() * phases.sides; ++k) add_panel(page, phases, k);
  return page.figure();
}

}  // namespace

FigureKind phase_spectrum_figure() {
  return {
      "phase_spectrum",
      {"phase_spectrum/query", "phase_spectrum/key"},
      clearness_fields(),
      "Energy of single heads in frequency and phase: absolute discrete Fourier transform of redefined queries and "
      "keys along the directions p whose phase θ (rad) lies in a bin, not normalised, mean over documents. On the "
      "ridge θ = 2πfΔ/T all waves are shifted by Δ tokens, so that the head attends to t* = −Δ; the solid one is "
      "the measured offset's. Each head has one colour scale, whose end 0.1 % of the cells exceed. Keys are drawn "
      "where those of a head differ from the queries by more than 15 %, by the root mean square; the numbers beside "
      "the "
      "figure hold both. Frequency 0 is left out, and what lies more than a tenth beyond the last frequency at which "
      "a head is loud; where more than 400 are shown, neighbours share a column, which shows the largest.",
      draw_phase_spectrum};
}

}  // namespace headwave
