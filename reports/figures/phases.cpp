// Frequency and phase of single heads' queries and keys.
#include "phases.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../../core/fields/field_reader.h"
#include "../drawing/page.h"
#include "chosen_heads.h"
#include "kinds.h"

namespace headwave {

namespace {

using std::numbers::pi;

constexpr double loud_amplitude = 0.1;  // of the largest amplitude
constexpr double dark_share = 0.999;    // of the cells
constexpr std::size_t most_bars = 400;
constexpr double alike = 0.15;  // of the amplitudes: keys that differ by no more from the queries are not drawn

/// The last frequency at which a direction of the head stands out from its own median.
std::size_t loud_frequency(const PhaseMaps& maps, std::size_t row) {
  std::vector<double> curve(maps.span.count, 0.0);
  for (std::size_t side = 0; side < phase_map_names.size(); ++side)
    for (std::size_t phase = 0; phase < maps.phases.size(); ++phase) {
      std::vector<double> line;
      for (std::size_t f = 1; f < maps.span.count; ++f) {
        const double value = maps.at(side, row, f, phase);
        line.push_back(std::isfinite(value) ? value : 0.0);
      }
      if (line.empty()) continue;
      std::vector<double> sorted = line;
      const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
      std::nth_element(sorted.begin(), middle, sorted.end());
      for (std::size_t f = 1; f < maps.span.count; ++f) curve[f] = std::max(curve[f], line[f - 1] - *middle);
    }
  return last_loud(curve, loud_amplitude);
}

void require_bins(const PhaseMaps& maps) {
  for (std::size_t bin = 0; bin < maps.phases.size(); ++bin)
    if (const double middle = maps.phases[0] + static_cast<double>(bin) * maps.bin();
        !(std::abs(maps.phases[bin] - middle) < 1e-6 && middle > -pi && middle < pi + 1e-6))
      throw ShapeError(fmt::format("{}: expected {} equal bins of (-pi, pi], found one about {} rad",
                                   phase_map_names[0], maps.phases.size(), maps.phases[bin]));
  if (maps.phases.size() < 2 || maps.values[0]->empty() || maps.values[0]->size() != maps.values[1]->size())
    throw ShapeError(fmt::format("{}: expected amplitudes of two phases or more, as many as in {}, found {} and {}",
                                 phase_map_names[0], phase_map_names[1], maps.values[0]->size(),
                                 maps.values[1]->size()));
}

/// Phases at which no direction of the head lies are omitted: most are such.
DataTable phase_numbers(const PhaseMaps& maps, std::size_t side, const ChosenHead& head) {
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

/// Two rows of pixels make up a bin's height, since one bin may lie half at the upper and half at the lower
/// end of the picture.
DataTable phase_pixels(const PhaseMaps& maps, std::size_t side, std::size_t row) {
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
  std::size_t sides = 1;           ///< panels of a head: queries alone if no head's keys differ from them
  bool labels_above = false;       ///< whether a ridge leaves its panel there

  [[nodiscard]] std::vector<PhaseRidge> ridges(const ChosenHead& head, double label_width) const {
    return phase_ridges({0.5, maps.end(), maps.span.length}, head.measured, label_width);
  }
};

Phases phases_of(const Result& result, const FigureOptions& options) {
  Phases phases{.heads = chosen_heads(result, phase_map_names[0], options), .maps = {}, .difference = {}};
  std::vector<std::size_t> rows;
  for (const ChosenHead& head : phases.heads) rows.push_back(head.row);
  phases.maps = phase_maps(result, rows);
  for (const ChosenHead& head : phases.heads) {
    phases.difference.push_back(map_difference(phases.maps, head.row));
    if (phases.difference.back() > alike) phases.sides = 2;
    for (const PhaseRidge& ridge : phases.ridges(head, 0))
      phases.labels_above = phases.labels_above || ridge.leaves != Leaves::right;
  }
  return phases;
}

/// Queries and keys of a head beside each other, or below where a page is too narrow; of queries alone two
/// heads in a row, each with its colours.
PanelFlow phase_flow(const Phases& phases) {
  const bool above = phases.labels_above;
  return {.grid = {.panel = {phases.sides == 2 ? 2.45 : 2.3, 1.35},
                   .gap = {phases.sides == 2 ? 0.5 : 1.34, above ? 0.54 : 0.3},
                   .margin = {.left = 0.62, .right = 1.04, .top = above ? 0.38 : 0.26, .bottom = above ? 0.64 : 0.5}},
          .in_row = 2,
          .least = 1.7,
          .each = phases.sides};
}

void add_phase_title(Panel& panel, const Phases& phases, std::size_t k) {
  const ChosenHead& head = phases.heads[k / phases.sides];
  const double height = phases.labels_above ? 0.26 : 0.12;
  const bool keys = k % phases.sides == 1;
  if (!keys)
    panel.note(head.text(), panel.over(0, height), {.points = 8.5, .bold = true});
  else
    panel.note(std::isnan(head.measured) ? "no measured offset"
                                         : fmt::format("measured offset t = {}", signed_offset(head.measured)),
               panel.over(0, height), {.points = 7});
  const double apart = std::ceil(100 * phases.difference[k / phases.sides]);
  panel.note(phases.sides == 1 ? fmt::format("Q p; K p within {:.0f} %", apart)
             : keys            ? "keys K p"
                               : "queries Q p",
             panel.over(panel.width(), height), {.points = 7, .anchor = Anchor::right});
}

/// The name of a ridge where it leaves the panel.
void add_ridge_name(Panel& panel, const PhaseRidge& ridge) {
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

/// One side of a head.
void add_phases(Page& page, Panel& panel, const Phases& phases, std::size_t k) {
  const PhaseMaps& maps = phases.maps;
  const ChosenHead& head = phases.heads[k / phases.sides];
  const std::size_t side = k % phases.sides;
  add_phase_title(panel, phases, k);
  if (panel.is_leftmost()) panel.title_left("phase θ (rad)", 0.46);
  if (panel.is_lowest())
    panel.title_below(fmt::format("frequency f (cycles/T, T = {:g})", maps.span.length),
                      page.grid().margin.bottom - 0.12);
  panel.tic_length(0.3);
  panel.common_x_axis({0.5, maps.end()}, {.step = tic_step(maps.end()), .away = phases.labels_above ? 0.5 : -0.2});
  panel.common_y_axis({-pi, pi}, {.named = {{-pi, "−π"}, {-pi / 2, "−π/2"}, {0, "0"}, {pi / 2, "π/2"}, {pi, "π"}}});
  const double bright = bright_amplitude(maps, head.row);
  panel.color_range({0, bright});
  ColorBar bar = amount_bar(bright, "amplitude |DFT|", 0.44);
  bar.title_right = -0.6;
  if (phases.sides == 1)
    panel.color_bar(bar);
  else if (side == 0)  // right of the keys, for both
    panel.common_color_bar(bar);
  page.keep(phase_numbers(maps, side, head));
  if (phases.sides == 1) page.keep(phase_numbers(maps, 1, head));
  panel.heat_map(page.data(phase_pixels(maps, side, head.row)));
  for (const PhaseRidge& ridge : phases.ridges(head, 0.36 / page.grid().panel.width)) {
    panel.curve(page.data(ridge.line), "1:2",
                ridge.measured ? Line{ink::strong_guide, 1} : Line{ink::faint_guide, 0.9, "-"});
    if (ridge.labelled) add_ridge_name(panel, ridge);
  }
}

GnuplotFigure draw_phase_spectrum(const Result& result, const FigureOptions& options) {
  PanelFlow room = phase_flow(phases_of(result, options));
  FigureOptions those = options;
  those.heads.clear();
  for (const ChosenHead& head : heads_on_page(result, phase_map_names[0], options, room))
    those.heads.push_back(head.text());
  const Phases phases = phases_of(result, those);  // heads without a panel do not decide how the others are drawn
  PanelFlow flow = phase_flow(phases);
  flow.cut = room.cut;
  flow.shown = room.shown;
  return drawn_panels(flow, phases.heads.size() * phases.sides, options.style,
                      [&](Page& page, Panel& panel, std::size_t k) { add_phases(page, panel, phases, k); });
}

constexpr int near = 3;          // tokens
constexpr double farthest = 16;  // tokens; farther ridges are too steep to follow

PhaseRidge ridge_of(const RidgeWindow& window, double delta, bool measured) {
  PhaseRidge ridge{delta, measured, true, Leaves::right, 0, 0, DataTable({"frequency", "phase"})};
  const double slope = 2 * pi * delta / window.length;
  const double turn = pi / std::abs(slope);  // frequency of half a turn
  ridge.frequency = std::min(turn, window.last);
  ridge.phase = slope * ridge.frequency;
  if (turn < window.last) ridge.leaves = delta > 0 ? Leaves::above : Leaves::below;
  // Piece n lies within half a turn of n whole ones.
  double from = window.first;
  for (double n = 0; from < window.last; ++n) {
    const double to = std::min((2 * n + 1) * turn, window.last);
    if (to <= from) continue;
    const double turns = 2 * pi * n * (delta > 0 ? 1.0 : -1.0);
    if (!ridge.line.rows().empty()) ridge.line.add_row({std::nan(""), std::nan("")});
    ridge.line.add_row({from, slope * from - turns});
    ridge.line.add_row({to, slope * to - turns});
    from = to;
  }
  return ridge;
}

}  // namespace

FrequencySpan frequency_span(const Field& field, std::string_view attribute) {
  const auto frequency = coordinates(field, "frequency");
  for (std::size_t f = 0; f < frequency.size(); ++f)
    if (frequency[f] != static_cast<double>(f))
      throw ShapeError(
          fmt::format("{}: expected the frequencies 0, 1, 2, ..., found {} at place {}", field.name, frequency[f], f));
  FrequencySpan span{frequency.size(), 2 * static_cast<double>(std::max<std::size_t>(frequency.size() - 1, 1))};
  span.length = attribute_number(field.attributes, std::string(attribute), span.length);
  if (!(span.length >= 1) || std::floor(span.length / 2) + 1 != static_cast<double>(span.count))
    throw ShapeError(fmt::format("{}: {} = {} has other frequencies than the {} of its axis", field.name, attribute,
                                 span.length, span.count));
  return span;
}

std::size_t last_loud(const std::vector<double>& curve, double share) {
  double largest = 0.0;
  for (std::size_t f = 1; f < curve.size(); ++f)
    if (std::isfinite(curve[f])) largest = std::max(largest, curve[f]);
  std::size_t last = 0;
  for (std::size_t f = 1; f < curve.size(); ++f)
    if (std::isfinite(curve[f]) && curve[f] > share * largest) last = f;
  return last;
}

std::size_t last_shown(const FrequencySpan& span, std::size_t loud) {
  const auto least = std::max<std::size_t>(static_cast<std::size_t>(span.length / 8), 2);
  return std::max<std::size_t>(2, std::min(span.count - 1, std::max(least, loud + loud / 10)));
}

double PhaseMaps::cell(std::size_t side, std::size_t row, std::size_t column, std::size_t phase) const {
  double largest = std::nan("");
  for (std::size_t f = 1 + column * step; f < 1 + (column + 1) * step; ++f)
    if (const double value = at(side, row, f, phase); std::isfinite(value)) largest = std::fmax(largest, value);
  return largest;
}

PhaseMaps phase_maps(const Result& result, const std::vector<std::size_t>& rows) {
  PhaseMaps maps;
  for (std::size_t side = 0; side < phase_map_names.size(); ++side)
    maps.values[side] = &doubles_of(result, phase_map_names[side], {"layer", "head", "frequency", "phase"});
  const Field& field = result.at(phase_map_names[0]);
  maps.span = frequency_span(field, "length");
  maps.phases = coordinates(field, "phase");
  require_bins(maps);
  std::size_t loud = 0;
  for (const std::size_t row : rows) loud = std::max(loud, loud_frequency(maps, row));
  maps.last = last_shown(maps.span, loud);
  maps.step = (maps.last + most_bars - 1) / most_bars;
  return maps;
}

std::size_t PhaseMaps::phase_at(double phase) const {
  const auto count = static_cast<long>(phases.size());
  return static_cast<std::size_t>(((std::lround((phase - phases[0]) / bin()) % count) + count) % count);
}

double map_difference(const PhaseMaps& maps, std::size_t row) {
  double apart = 0, larger = 0;
  for (std::size_t column = 0; column < maps.columns(); ++column)
    for (std::size_t phase = 0; phase < maps.phases.size(); ++phase) {
      const double query = maps.cell(0, row, column, phase), key = maps.cell(1, row, column, phase);
      if (!std::isfinite(query) || !std::isfinite(key)) continue;
      apart += (query - key) * (query - key);
      larger += std::max(query * query, key * key);
    }
  return larger > 0 ? std::sqrt(apart / larger) : 0.0;
}

double bright_amplitude(const PhaseMaps& maps, std::size_t row) {
  std::vector<double> cells;
  for (std::size_t side = 0; side < phase_map_names.size(); ++side)
    for (std::size_t column = 0; column < maps.columns(); ++column)
      for (std::size_t phase = 0; phase < maps.phases.size(); ++phase)
        if (const double value = maps.cell(side, row, column, phase); std::isfinite(value)) cells.push_back(value);
  if (cells.empty()) return 1.0;
  std::sort(cells.begin(), cells.end());
  const double bright = cells[static_cast<std::size_t>(dark_share * static_cast<double>(cells.size() - 1))];
  return bright > 0 ? bright : cells.back() > 0 ? cells.back() : 1.0;
}

std::vector<PhaseRidge> phase_ridges(const RidgeWindow& window, double measured, double label_width) {
  std::vector<PhaseRidge> ridges;
  for (int delta = -near; delta <= near; ++delta)
    if (delta != 0) ridges.push_back(ridge_of(window, delta, -delta == measured));
  if (std::abs(measured) > near && std::abs(measured) <= farthest) ridges.push_back(ridge_of(window, -measured, true));
  const auto matters_more = [](const PhaseRidge& a, const PhaseRidge& b) {
    return a.measured != b.measured ? a.measured : std::abs(a.delta) < std::abs(b.delta);
  };
  for (PhaseRidge& ridge : ridges)
    ridge.labelled =
        ridge.leaves == Leaves::right || std::none_of(ridges.begin(), ridges.end(), [&](const PhaseRidge& other) {
          const double apart = std::abs(ridge.frequency - other.frequency) / (window.last - window.first);
          return other.leaves == ridge.leaves && matters_more(other, ridge) && apart <= label_width;
        });
  return ridges;
}

FigureKind phase_spectrum_figure() {
  return {.name = "phase_spectrum",
          .fields = {phase_map_names[0], phase_map_names[1]},
          .extras = strength_fields(),
          .caption =
              "Energy of single heads in frequency and phase: absolute discrete Fourier transform, not normalised, "
              "of redefined queries and keys along the directions p whose phase θ lies in a bin, mean over "
              "documents. On the ridge θ = 2πfΔ/T all waves are shifted by Δ tokens, so that the head attends to t* "
              "= −Δ; the solid one is the measured offset's. Each head has one colour scale. Keys are drawn where "
              "they differ from the queries by more than 15 %.",
          .drawing = draw_phase_spectrum,
          .silent = no_offsets,
          .single_heads = true,
          .follows_waves = true};
}

}  // namespace headwave
