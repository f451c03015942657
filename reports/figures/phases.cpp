// Frequency and phase of single heads' queries and keys, and the delay that each frequency points to.
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

/// Two rows of pixels make up a bin's height, since one bin may lie half at the upper and half at the lower end of the
/// picture.
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

/// Queries and keys of a head beside each other, or below where a page is too narrow; of queries alone two heads in a
/// row, each with its colours.
PanelGrid phase_grid(const Phases& phases, const FigureStyle& style) {
  const std::size_t panels = phases.heads.size() * phases.sides;
  const PanelGrid grid{.panel = {phases.sides == 2 ? 2.45 : 2.3, 1.35},
                       .gap = {phases.sides == 2 ? 0.5 : 1.34, phases.labels_above ? 0.54 : 0.3},
                       .margin = {.left = 0.62,
                                  .right = 1.04,
                                  .top = phases.labels_above ? 0.38 : 0.26,
                                  .bottom = phases.labels_above ? 0.64 : 0.5}};
  return fitted(flowing(grid, panels, 2), panels, 1.7, style);
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

void add_phase_axes(Panel& panel, const PanelGrid& grid, const Phases& phases, std::size_t k) {
  const PhaseMaps& maps = phases.maps;
  const bool leftmost = grid.column_of(k) == 0, lowest = grid.is_lowest(k, phases.heads.size() * phases.sides);
  if (leftmost) panel.title_left("phase θ (rad)", 0.46);
  if (lowest)
    panel.title_below(fmt::format("frequency f (cycles/T, T = {:g})", maps.span.length), grid.margin.bottom - 0.12);
  panel.tic_length(0.3);
  panel.x_axis({0.5, maps.end()}, {.step = tic_step(maps.end()),
                                   .numbers = lowest ? Numbers::plain : Numbers::none,
                                   .away = phases.labels_above ? 0.5 : -0.2});
  std::vector<Tic> tics{{-pi, "−π"}, {-pi / 2, "−π/2"}, {0, "0"}, {pi / 2, "π/2"}, {pi, "π"}};
  if (!leftmost)
    for (Tic& tic : tics) tic.name.clear();
  panel.y_axis({-pi, pi}, {.named = tics});
}

/// One side of a head.
void add_phases(Page& page, const Phases& phases, std::size_t k) {
  const PanelGrid& grid = page.grid();
  const PhaseMaps& maps = phases.maps;
  const ChosenHead& head = phases.heads[k / phases.sides];
  const std::size_t side = k % phases.sides;
  Panel& panel = page.panel(k);
  add_phase_title(panel, phases, k);
  add_phase_axes(panel, grid, phases, k);
  const double bright = bright_amplitude(maps, head.row);
  panel.color_range({0, bright});
  if (side == 0) {  // right of the last column where there are keys, for both
    const double column =
        phases.sides == 2 ? grid.panel_left(grid.columns - 1) - grid.panel_left(grid.column_of(k)) : 0;
    ColorBar bar = amount_bar(bright, "amplitude |DFT|", 0.44 + column);
    bar.title_right = -0.6;
    panel.color_bar(bar);
  }
  page.keep(phase_numbers(maps, side, head));
  if (phases.sides == 1) page.keep(phase_numbers(maps, 1, head));
  panel.heat_map(page.data(phase_pixels(maps, side, head.row)));
  for (const PhaseRidge& ridge : phases.ridges(head, 0.36 / grid.panel.width)) {
    panel.curve(page.data(ridge.line), "1:2",
                ridge.measured ? Line{ink::strong_guide, 1} : Line{ink::faint_guide, 0.9, "-"});
    if (ridge.labelled) add_ridge_name(panel, ridge);
  }
}

GnuplotFigure draw_phase_spectrum(const Result& result, const FigureOptions& options) {
  const Phases phases = phases_of(result, options);
  Page page(phase_grid(phases, options.style), options.style);
  for (std::size_t k = 0; k < phases.heads.size() * phases.sides; ++k) add_phases(page, phases, k);
  return page.figure();
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

constexpr const char* delay_name = "delay_spectrum/by_frequency";
constexpr double loud_modulus = 0.01;  // of the largest |C(f)|
constexpr double largest_dot = 1.5;    // size of the largest |C(f)|
constexpr double smallest_dot = 0.13;
constexpr double mark_legend_width = 5.2;  // inches; on a narrower page it takes four lines instead of two

/// Which delay each frequency of a head points to, and the one that all agree on best. Tokens; NaN: undefined.
struct DelayCurve {
  ChosenHead head;
  std::span<const double> delay;  ///< (frequencies)  t^(f), known up to T/f
  std::vector<double> modulus;    ///< (frequencies)  |C(f)|
  double largest = 1;             ///< of the modulus at f > 0; 1 if none is above 0
  double estimate = 0;            ///< fitted to all frequencies
  double lower = 0, upper = 0;    ///< ends of the interval of the estimate
  double coherence = 0;
  bool told = false;  ///< whether the estimate can be told from chance

  /// Largest |t| of the panel: room around the fitted delay and the measured offset.
  [[nodiscard]] double reach() const {
    double reach = 5.0;
    for (const double t : {estimate, head.measured})
      if (std::abs(t) <= 1000) reach = std::max(reach, std::ceil(1.4 * std::abs(t) + 2));
    return reach;
  }
};

struct DelayCurves {
  std::vector<DelayCurve> heads;
  FrequencySpan span;
  std::size_t last = 2;  ///< frequency shown: the last at which one of the heads has 1 % of its largest |C(f)|
  double coverage = 0;   ///< of the interval; 0: not said
};

DelayCurves delay_curves(const Result& result, const FigureOptions& options) {
  const auto lines = [&](const char* name) -> const std::vector<double>& {
    return doubles_of(result, name, {"layer", "head", "frequency"});
  };
  const auto number = [&](const char* name, const ChosenHead& head) {
    return doubles_of(result, name, {"layer", "head"})[head.row];
  };
  const auto &delay = lines(delay_name), &real = lines("delay_spectrum/cross_real"),
             &imaginary = lines("delay_spectrum/cross_imaginary");
  DelayCurves curves;
  curves.span = frequency_span(result.at(delay_name), "length");
  curves.coverage = attribute_number(result.at("delay_spectrum/lower").attributes, "coverage", 0);
  std::size_t loud = 0;
  for (const ChosenHead& head : chosen_heads(result, delay_name, options)) {
    DelayCurve curve{.head = head, .delay = slice_of(delay, head.row, curves.span.count), .modulus = {}};
    double largest = 0;
    for (std::size_t f = 0; f < curves.span.count; ++f) {
      const std::size_t at = head.row * curves.span.count + f;
      const double size = std::hypot(real[at], imaginary[at]);
      curve.modulus.push_back(std::isfinite(size) ? size : std::nan(""));
      if (f > 0) largest = std::fmax(largest, curve.modulus.back());
    }
    if (largest > 0) curve.largest = largest;
    curve.estimate = number("delay_spectrum/estimate", head);
    curve.told = std::isfinite(curve.estimate) && number("delay_spectrum/predicted_offset", head) == curve.estimate;
    curve.lower = number("delay_spectrum/lower", head);
    curve.upper = number("delay_spectrum/upper", head);
    curve.coherence = number("delay_spectrum/coherence", head);
    loud = std::max(loud, last_loud(curve.modulus, loud_modulus));
    curves.heads.push_back(std::move(curve));
  }
  curves.last = last_shown(curves.span, loud);
  return curves;
}

/// `nearest` is the delay plus the multiple of T/f that comes closest to the fitted one.
DataTable delay_numbers(const DelayCurve& curve, const DelayCurves& curves) {
  DataTable table({"layer", "head", "frequency", "delay", "nearest", "modulus", "dot", "estimate", "lower", "upper",
                   "measured_offset"});
  for (std::size_t f = 1; f <= std::min(curves.last, curves.span.count - 1); ++f) {
    const double turn = curves.span.length / static_cast<double>(f);
    const double turns = std::round((curve.estimate - curve.delay[f]) / turn);
    const double nearest = std::isfinite(turns) ? curve.delay[f] + turns * turn : std::nan("");
    const double share = curve.modulus[f] / curve.largest;
    table.add_row({curve.head.name.layer, curve.head.name.head, f, curve.delay[f], nearest, curve.modulus[f],
                   std::max(smallest_dot, largest_dot * std::sqrt(share)), curve.estimate, curve.lower, curve.upper,
                   curve.head.measured});
  }
  return table;
}

/// The largest delay that one frequency can tell, T/(2f), from where it enters the panel.
DataTable delay_bound(const DelayCurves& curves, double reach) {
  DataTable table({"frequency", "bound"});
  const double end = static_cast<double>(curves.last) + 0.5;
  const double begin = std::max(0.5, curves.span.length / (2 * reach));
  constexpr int steps = 200;
  for (int i = 0; i <= steps; ++i) {
    const double f = begin < end ? begin + (end - begin) * i / steps : end;
    table.add_row({f, std::min(reach, curves.span.length / (2 * f))});
  }
  return table;
}

/// Lines above all panels that say what the marks are, drawn from left to right.
void add_mark_legend(Panel& panel, const PanelGrid& grid, double coverage) {
  const bool narrow = grid.width() < mark_legend_width && grid.margin.top > 1;
  double y = grid.height() - 0.14;
  const auto place = [&](double at, double up = 0.0) { return grid.at(grid.margin.left + at, y + up); };
  const auto text = [&](double at, const std::string& words) { panel.note(words, place(at), {.points = 6.5}); };
  const auto dot = [&](double at, double share, Shape shape) {
    panel.mark(place(at), {ink::measured, largest_dot * std::sqrt(share), shape});
  };
  const auto line = [&](double at, const Line& how) { panel.segment(place(at), place(at + 0.26), how); };
  const auto box = [&](double at, const Ink& ink) { panel.rectangle(place(at, -0.05), place(at + 0.26, 0.05), ink); };
  dot(0.05, 1, Shape::disc);
  text(0.15, "100 %");
  dot(0.53, 0.1, Shape::disc);
  text(0.6, "10 %");
  dot(0.92, 0.01, Shape::disc);
  text(0.98, "1 % of the head's largest |C(f)|");
  if (narrow) y -= 0.2;
  dot(narrow ? 0.05 : 2.62, 0.3, Shape::ring);
  text(narrow ? 0.15 : 2.73, "t(f) moved by multiples of T/f");
  y -= 0.2;
  box(0, ink::interval);
  line(0, {ink::mark, 1.6});
  text(0.32, coverage > 0 ? fmt::format("fitted delay, {:g} % interval", 100 * coverage) : "fitted delay, interval");
  if (narrow) y -= 0.2;
  const double second = narrow ? 0 : 1.78;
  line(second, {ink::other_mark, 1.6, "-"});
  text(second + 0.32, "measured offset");
  box(second + 1.24, ink::shade_on_paper);
  text(second + 1.56, "beyond ±T/(2f)");
}

/// What runs across the panel: its left and right end, for lines above the grey and behind the dots.
DataTable lines_across(const DelayCurve& curve, const DelayCurves& curves, double reach) {
  DataTable table({"frequency", "estimate", "lower", "upper", "measured_offset"});
  const auto inside = [reach](double t) { return std::abs(t) <= reach ? t : std::nan(""); };
  const auto last = static_cast<double>(curves.last);
  for (const double f : {-0.02 * last, last + 0.5})  // not beyond: gnuplot leaves such lines out
    table.add_row({f, inside(curve.estimate), std::clamp(curve.lower, -reach, reach),
                   std::clamp(curve.upper, -reach, reach), inside(curve.head.measured)});
  return table;
}

std::string delay_title(const DelayCurve& curve) {
  const auto tokens = [](double t) { return fmt::format("{}{:.2f}", t < 0 ? "−" : t > 0 ? "+" : "", std::abs(t)); };
  if (!std::isfinite(curve.estimate)) return "no delay";
  if (!curve.told)
    return fmt::format("delay {}, coherence {:.2f}: not above chance", tokens(curve.estimate), curve.coherence);
  const std::string interval = std::isfinite(curve.lower) && std::isfinite(curve.upper)
                                   ? fmt::format(" ({} to {})", tokens(curve.lower), tokens(curve.upper))
                                   : "";
  return fmt::format("delay {}{}, coherence {:.2f}", tokens(curve.estimate), interval, curve.coherence);
}

void add_delays(Page& page, const DelayCurves& curves, std::size_t k) {
  const DelayCurve& curve = curves.heads[k];
  const PanelGrid& grid = page.grid();
  const double reach = curve.reach();
  const auto last = static_cast<double>(curves.last);
  const bool lowest = grid.is_lowest(k, curves.heads.size());
  Panel& panel = page.panel(k);
  if (k == 0) add_mark_legend(panel, grid, curves.coverage);
  panel.note(curve.head.text(), panel.over(0, 0.12), {.points = 8, .bold = true});
  panel.note(delay_title(curve), panel.over(panel.width(), 0.12), {.points = 6.5, .anchor = Anchor::right});
  if (grid.column_of(k) == 0) panel.title_left("delay t (tokens)", 0.44);
  if (lowest) panel.title_below(fmt::format("frequency f (cycles/T, T = {:g})", curves.span.length));
  panel.x_axis({-0.02 * last, last + 0.5},
               {.step = tic_step(last), .numbers = lowest ? Numbers::plain : Numbers::none});
  panel.y_axis({-reach, reach}, {.step = tic_step(2 * reach)});
  const std::string bound = page.data(delay_bound(curves, reach));
  const std::string dots = page.numbers(delay_numbers(curve, curves));
  const std::string lines = page.data(lines_across(curve, curves, reach));
  if (curve.lower < curve.upper) panel.band(lines, "1:3:4", ink::interval);
  panel.area(bound, "1:2", reach, ink::shade);
  panel.area(bound, "1:(-$2)", -reach, ink::shade);
  if (std::abs(curve.estimate) <= reach) panel.curve(lines, "1:2", {curve.told ? ink::mark : ink::chance, 1.6});
  if (std::abs(curve.head.measured) <= reach) panel.curve(lines, "1:5", {ink::other_mark, 1.6, "-"});
  panel.dots(dots, fmt::format("3:(abs($5-$4)>1e-9 && abs($5)<={} && $6>{}?$5:NaN):7", reach, 0.01 * curve.largest),
             {.ink = ink::moved_dot, .shape = Shape::ring}, 0.8);
  panel.dots(dots, fmt::format("3:(abs($4)<={}?$4:NaN):7", reach), {.ink = ink::dot});
}

GnuplotFigure draw_delay_spectrum(const Result& result, const FigureOptions& options) {
  const DelayCurves curves = delay_curves(result, options);
  const std::size_t n = curves.heads.size();
  const double width = layout_width(options.style);
  const PanelGrid grid{
      .panel = {n == 1 ? 4.2 : 2.75, n == 1 ? 2.2 : 1.55},
      .gap = {0.6, 0.44},
      .margin = {.left = 0.6, .top = width > 0 && width < mark_legend_width ? 1.12 : 0.72, .bottom = 0.52}};
  Page page(fitted(flowing(grid, n, n == 1 ? 1 : 2), n, 2.2, options.style), options.style);
  for (std::size_t k = 0; k < n; ++k) add_delays(page, curves, k);
  return page.figure();
}

}  // namespace

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
          .extras = clearness_fields(),
          .caption =
              "Energy of single heads in frequency and phase: absolute discrete Fourier transform of redefined queries "
              "and keys along the directions p whose phase θ (rad) lies in a bin, not normalised, mean over documents. "
              "On the ridge θ = 2πfΔ/T all waves are shifted by Δ tokens, so that the head attends to t* = −Δ; the "
              "solid one is the measured offset's. Each head has one colour scale, whose end 0.1 % of the cells "
              "exceed. Keys are drawn if those of a head differ from the queries by more than 15 %, by the root mean "
              "square; the numbers beside the figure hold both. Frequency 0 is left out, and what lies more than a "
              "tenth beyond the last frequency at which a head is loud; where more than 400 are shown, neighbours "
              "share a column, which shows the largest.",
          .drawing = draw_phase_spectrum,
          .follows_waves = true};
}

FigureKind delay_spectrum_figure() {
  return {.name = "delay_spectrum",
          .fields = {delay_name, "delay_spectrum/cross_real", "delay_spectrum/cross_imaginary",
                     "delay_spectrum/estimate", "delay_spectrum/predicted_offset", "delay_spectrum/lower",
                     "delay_spectrum/upper", "delay_spectrum/coherence"},
          .extras = clearness_fields(),
          .caption =
              "The delay in tokens that each frequency of single heads' queries and keys points to: the area of a dot "
              "is its share of the head's largest |C(f)|, the cross-spectrum's modulus. Line and band: the delay that "
              "all frequencies agree on best, grey if it cannot be told from chance, and its bootstrap interval over "
              "documents. A frequency knows its delay up to T/f: none lies in the grey area, and hollow dots show the "
              "multiple nearest to the line. Dots beyond a panel are left out, and frequencies more than a tenth "
              "beyond the last at which |C(f)| of a head is 1 % of its largest.",
          .drawing = draw_delay_spectrum,
          .follows_waves = true};
}

}  // namespace headwave
