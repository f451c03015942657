// Frequency and phase of single heads' queries and keys.
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "chosen_heads.h"

namespace headwave {

namespace {

using std::numbers::pi;

constexpr std::array phase_map_names{"phase_spectrum/query", "phase_spectrum/key"};

/// The two maps of every head, as cells of a picture without frequency 0.
struct PhaseMaps {
  std::array<const std::vector<double>*, 2> values{};  // queries, keys: (layers, heads, frequencies, phases)
  std::size_t frequencies = 0;                         // with frequency 0: floor(T/2) + 1
  double length = 0;                                   // T in tokens
  std::vector<double> phases;                          // rad, ascending middles of equal bins around the circle
  std::size_t last = 2;                                // last frequency that is shown

  /// The amplitude; NaN beyond the last stored frequency.
  [[nodiscard]] double at(std::size_t side, std::size_t row, std::size_t f, std::size_t phase) const {
    return f < frequencies ? (*values[side])[(row * frequencies + f) * phases.size() + phase] : std::nan("");
  }
  /// Width of a bin of phases, rad.
  [[nodiscard]] double bin() const { return 2 * pi / static_cast<double>(phases.size()); }
  /// Right edge of the last frequency, cycles per T tokens.
  [[nodiscard]] double end() const { return static_cast<double>(last) + 0.5; }
};

/// The last frequency at which a direction of the head exceeds its own median by a tenth of the largest such
/// excess (1 % of the energy).
std::size_t loud_frequency(const PhaseMaps& maps, std::size_t row) {
  std::vector<double> louder(maps.frequencies, 0.0), line(maps.frequencies, 0.0);
  for (std::size_t side = 0; side < phase_map_names.size() && maps.frequencies > 1; ++side)
    for (std::size_t phase = 0; phase < maps.phases.size(); ++phase) {
      for (std::size_t f = 1; f < maps.frequencies; ++f) {
        const double one = maps.at(side, row, f, phase);
        line[f] = std::isfinite(one) ? one : 0.0;
      }
      std::vector<double> sorted(line.begin() + 1, line.end());
      std::ranges::sort(sorted);
      for (std::size_t f = 1; f < maps.frequencies; ++f)
        louder[f] = std::max(louder[f], line[f] - sorted[sorted.size() / 2]);
    }
  const double loud = 0.1 * largest_of(louder);
  std::size_t last = 0;
  for (std::size_t f = 1; f < maps.frequencies; ++f)
    if (louder[f] > loud) last = f;
  return last;
}

/// @param rows  layer * heads + head of the heads shown. They decide the last frequency: a tenth beyond the
///              last loud one, at least T/8 and 2, at most the last stored
PhaseMaps phase_maps(const Result& result, const std::vector<std::size_t>& rows) {
  PhaseMaps maps;
  for (std::size_t side = 0; side < phase_map_names.size(); ++side)
    maps.values[side] = &doubles_of(result, phase_map_names[side], {"layer", "head", "frequency", "phase"});
  const Field& field = result.at(phase_map_names[0]);
  const auto frequency = coordinates(field, "frequency");
  maps.frequencies = frequency.size();
  maps.length = attribute_number(field.attributes, "length",  // without a length, T is taken as even
                                 2 * static_cast<double>(std::max<std::size_t>(frequency.size() - 1, 1)));
  maps.phases = coordinates(field, "phase");
  if (frequency.front() != 0 || frequency.back() != static_cast<double>(frequency.size() - 1) || maps.phases.size() < 2)
    throw ShapeError(
        fmt::format("{}: expected the frequencies 0, 1, ... and two or more phases, found {} to {}, and {}", field.name,
                    frequency.front(), frequency.back(), maps.phases.size()));
  std::size_t loud = 0;
  for (const std::size_t row : rows) loud = std::max(loud, loud_frequency(maps, row));
  const auto least = std::max<std::size_t>(static_cast<std::size_t>(maps.length / 8), 2);
  maps.last = std::max<std::size_t>(2, std::min(maps.frequencies - 1, std::max(least, loud + loud / 10)));
  return maps;
}

/// A comparison of a head's two maps.
struct MapSummary {
  double difference = 0;  // root mean square difference of their cells divided by that of the larger cells
  double bright = 1;      // the amplitude that one cell in a thousand exceeds; 1 if no amplitude is above 0
};

MapSummary summary_of(const PhaseMaps& maps, std::size_t row) {
  double apart = 0, larger = 0;
  std::vector<double> cells;
  for (std::size_t f = 1; f <= maps.last; ++f)
    for (std::size_t phase = 0; phase < maps.phases.size(); ++phase) {
      const double query = maps.at(0, row, f, phase), key = maps.at(1, row, f, phase);
      for (const double one : {query, key})
        if (std::isfinite(one)) cells.push_back(one);
      if (!std::isfinite(query) || !std::isfinite(key)) continue;
      apart += (query - key) * (query - key);
      larger += std::max(query * query, key * key);
    }
  MapSummary summary{.difference = larger > 0 ? std::sqrt(apart / larger) : 0.0};
  std::ranges::sort(cells);
  if (!cells.empty() && cells.back() > 0) {
    const double bright = cells[static_cast<std::size_t>(0.999 * static_cast<double>(cells.size() - 1))];
    summary.bright = bright > 0 ? bright : cells.back();
  }
  return summary;
}

/// The ridge of one delay: theta = 2 pi f delta / T, wrapped into (-pi, pi].
struct PhaseRidge {
  double delta = 0;       // tokens by which keys run ahead of queries; the attended offset is t* = -delta
  bool measured = false;  // whether t* is the head's measured offset
  double frequency = 0;   // where it leaves the panel: at the right edge, or after half a turn
  double phase = 0;
  bool right = false;                      // whether it leaves at the right edge
  std::vector<double> fs = {}, phis = {};  // its line; NaN between two pieces
};

PhaseRidge ridge_of(const PhaseMaps& maps, double delta, bool measured) {
  const double slope = 2 * pi * delta / maps.length, turn = pi / std::abs(slope);  // frequency of half a turn
  PhaseRidge ridge{delta, measured, std::min(turn, maps.end()), slope * std::min(turn, maps.end()), turn >= maps.end()};
  // Piece n lies within half a turn of n whole turns.
  double from = 0.5;
  for (double n = 0; from < maps.end(); ++n) {
    const double to = std::min((2 * n + 1) * turn, maps.end());
    if (to <= from) continue;
    const double turns = std::copysign(2 * pi * n, delta);
    ridge.fs.insert(ridge.fs.end(), {from, to, std::nan("")});
    ridge.phis.insert(ridge.phis.end(), {slope * from - turns, slope * to - turns, std::nan("")});
    from = to;
  }
  return ridge;
}

/// The ridges of delta = -3 .. 3 without 0, and that of the measured offset if it lies farther off, up to 16
/// tokens. Ridges of larger offsets are too steep to follow.
std::vector<PhaseRidge> phase_ridges(const PhaseMaps& maps, double measured) {
  constexpr int near = 3;
  constexpr double farthest = 16;
  std::vector<PhaseRidge> ridges;
  for (int delta = -near; delta <= near; ++delta)
    if (delta != 0) ridges.push_back(ridge_of(maps, delta, -delta == measured));
  if (std::abs(measured) > near && std::abs(measured) <= farthest) ridges.push_back(ridge_of(maps, -measured, true));
  return ridges;
}

/// Whether a ridge's name has room: it must touch neither the name of the measured ridge nor one nearer to 0.
bool has_room(const PhaseRidge& ridge, const std::vector<PhaseRidge>& ridges, double label_width) {
  return ridge.right || std::ranges::none_of(ridges, [&](const PhaseRidge& other) {
           const bool matters_more =
               other.measured != ridge.measured ? other.measured : std::abs(other.delta) < std::abs(ridge.delta);
           return matters_more && !other.right && other.delta * ridge.delta > 0 &&
                  std::abs(ridge.frequency - other.frequency) <= label_width;
         });
}

void add_ridges(Panel& panel, const PhaseMaps& maps, double measured) {
  const std::vector<PhaseRidge> ridges = phase_ridges(maps, measured);
  for (const PhaseRidge& ridge : ridges) {
    panel.curve(ridge.fs, ridge.phis, ridge.measured ? Line{ink::strong_guide, 1} : Line{ink::faint_guide, 0.9, "-"});
    if (!has_room(ridge, ridges, 0.36 / panel.width() * (maps.end() - 0.5))) continue;
    const std::string name = "t* = " + signed_offset(-ridge.delta);
    Letters letters{.points = 6, .bold = ridge.measured, .ink = ridge.measured ? ink::mark : ink::note};
    if (ridge.right) {
      letters.right = 0.5;
      panel.note(name, {share(1), value(ridge.phase)}, letters);
    } else {
      letters.anchor = Anchor::center;
      letters.up = ridge.delta > 0 ? 0.45 : -0.55;
      panel.note(name, {value(ridge.frequency), share(ridge.delta > 0 ? 1 : 0)}, letters);
    }
  }
}

/// The heads and maps that are drawn, and the layout.
struct Phases {
  std::vector<ChosenHead> heads;
  PhaseMaps maps = {};
  std::vector<MapSummary> summaries = {};
  std::size_t sides = 1;   // panels per head: 1, the queries, if no head's keys differ from them
  bool tall_gaps = false;  // names of ridges stand above and below panels
};

Phases phases_of(const Result& result, const FigureOptions& options) {
  constexpr double alike = 0.15;  // share of the amplitudes; keys that differ by no more are not drawn
  Phases phases{.heads = chosen_heads(result, phase_map_names[0], options)};
  std::vector<std::size_t> rows;
  for (const ChosenHead& head : phases.heads) rows.push_back(head.row);
  phases.maps = phase_maps(result, rows);
  for (const ChosenHead& head : phases.heads) {
    phases.summaries.push_back(summary_of(phases.maps, head.row));
    if (phases.summaries.back().difference > alike) phases.sides = 2;
    for (const PhaseRidge& ridge : phase_ridges(phases.maps, head.measured))
      phases.tall_gaps = phases.tall_gaps || !ridge.right;
  }
  return phases;
}

/// Puts queries and keys of a head beside each other, or below each other on a narrow page. Queries alone
/// stand two heads to a row, each with its colour bar.
FigurePanels phase_panels(const Phases& phases) {
  const bool tall = phases.tall_gaps, both = phases.sides == 2;
  return {.grid = {.panel = {both ? 2.45 : 2.3, 1.35},
                   .gap = {both ? 0.5 : 1.34, tall ? 0.54 : 0.3},
                   .margin = {.left = 0.62, .right = 1.04, .top = tall ? 0.38 : 0.26, .bottom = tall ? 0.64 : 0.5}},
          .in_row = 2,
          .least = 1.7,
          .each = phases.sides,
          .x = {.range = {0.5, phases.maps.end()},
                .tics = {.step = tic_step(phases.maps.end()), .away = tall ? 0.5 : -0.2},
                .common = true,
                .title = fmt::format("frequency f (cycles/T, T = {:g})", phases.maps.length),
                .away = tall ? 0.52 : 0.38},
          .y = {.range = {-pi, pi},
                .tics = {.named = {{-pi, "−π"}, {-pi / 2, "−π/2"}, {0, "0"}, {pi / 2, "π/2"}, {pi, "π"}}},
                .common = true,
                .title = "phase θ (rad)",
                .away = 0.46}};
}

/// Draws the queries or the keys of a head.
void add_phases(Panel& panel, const Phases& phases, std::size_t k) {
  const PhaseMaps& maps = phases.maps;
  const ChosenHead& head = phases.heads[k / phases.sides];
  const MapSummary& summary = phases.summaries[k / phases.sides];
  const std::size_t side = k % phases.sides;
  const double height = phases.tall_gaps ? 0.26 : 0.12;
  if (side == 0)
    panel.note(head.text(), panel.over(0, height), {.points = 8.5, .bold = true});
  else
    panel.note(std::isnan(head.measured) ? "no measured offset" : "measured offset t = " + signed_offset(head.measured),
               panel.over(0, height), {.points = 7});
  panel.note(phases.sides == 1 ? fmt::format("Q p; K p within {:.0f} %", std::ceil(100 * summary.difference))
             : side == 1       ? "keys K p"
                               : "queries Q p",
             panel.over(panel.width(), height), {.points = 7, .anchor = Anchor::right});
  panel.tic_length = 0.3;
  ColorBar bar = amount_bar(summary.bright, "amplitude |DFT|", 0.44);
  bar.title_right = -0.6;
  bar.common = phases.sides == 2;  // right of the keys, for both
  if (side == 0) panel.color_bar(bar);
  // A bin is two rows of pixels high, because one bin may lie half at the upper and half at the lower end of
  // the picture.
  const auto bins = static_cast<long>(maps.phases.size());
  const auto phase_of = [&](double half) { return -pi + maps.bin() * (half + 0.5) / 2; };
  const auto amount = [&](std::size_t column, std::size_t half) {
    const long nearest = std::lround((phase_of(static_cast<double>(half)) - maps.phases[0]) / maps.bin());
    return maps.at(side, head.row, 1 + column, static_cast<std::size_t>((nearest % bins + bins) % bins));
  };
  panel.heat_map({maps.last, 2 * maps.phases.size(), amount, std::clamp<std::size_t>(300 / maps.last, 1, 3), 1,
                  [](double column) { return 1 + column; }, phase_of},
                 {0, summary.bright});
  add_ridges(panel, maps, head.measured);
}

Figure draw_phase_spectrum(const Result& result, const FigureOptions& options) {
  const Phases phases = phases_of(result, options);
  FigurePanels panels = phase_panels(phases);
  panels.fill = [&](Panel& panel, std::size_t k) { add_phases(panel, phases, k); };
  return drawn_heads(panels, phases.heads, field_heads(result.at(phase_map_names[0])), options);
}

}  // namespace

std::vector<FigureKind> phase_figures() {
  return {{.name = "phase_spectrum",
           .fields = {phase_map_names[0], phase_map_names[1]},
           .caption =
               "Energy of single heads in frequency and phase: absolute discrete Fourier transform, not normalised, "
               "of redefined queries and keys along the directions p whose phase θ lies in a bin, mean over "
               "documents. On the ridge θ = 2πfΔ/T all waves are shifted by Δ tokens, so that the head attends to t* "
               "= −Δ; the solid one is the measured offset's. Each head has one colour scale. Keys are drawn where "
               "they differ from the queries by more than 15 %.",
           .drawing = draw_phase_spectrum,
           .silent = no_offsets,
           .single_heads = true,
           .follows_waves = true}};
}

}  // namespace headwave
