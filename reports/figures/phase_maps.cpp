#include "phase_maps.h"

#include <algorithm>
#include <numbers>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../drawing/field_values.h"

namespace headwave {

namespace {

using std::numbers::pi;

constexpr double loud_amplitude = 0.1;  // of the largest amplitude
constexpr double dark_share = 0.999;    // of the cells
constexpr std::size_t most_bars = 400;

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

void check(const PhaseMaps& maps) {
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
  check(maps);
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

}  // namespace headwave
