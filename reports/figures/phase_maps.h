#pragma once

#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include "../../core/fields/field.h"
#include "../drawing/frequency_span.h"

namespace headwave {

inline constexpr std::array phase_map_names{"phase_spectrum/query", "phase_spectrum/key"};

/// The two maps of every head as cells of a picture, frequency 0 left out: where more than 400 frequencies would be
/// shown, neighbours share a cell, which shows the largest.
struct PhaseMaps {
  std::array<const std::vector<double>*, 2> values{};  ///< queries, keys: (layers, heads, frequencies, phases)
  FrequencySpan span;
  std::vector<double> phases;  ///< rad, ascending middles of equal bins around the circle
  std::size_t last = 2;        ///< frequency shown
  std::size_t step = 1;        ///< frequencies to a column of cells

  /// NaN beyond the last frequency there is.
  [[nodiscard]] double at(std::size_t side, std::size_t row, std::size_t f, std::size_t phase) const {
    return f < span.count ? (*values[side])[(row * span.count + f) * phases.size() + phase] : std::nan("");
  }
  [[nodiscard]] std::size_t columns() const { return (last + step - 1) / step; }
  /// @returns the amplitude shown, NaN where none is finite
  [[nodiscard]] double cell(std::size_t side, std::size_t row, std::size_t column, std::size_t phase) const;
  /// Middle of a column, cycles per T tokens.
  [[nodiscard]] double frequency(std::size_t column) const {
    return 1 + static_cast<double>(column * step) + static_cast<double>(step - 1) / 2;
  }
  /// Width of a bin of phases, rad.
  [[nodiscard]] double bin() const { return 2 * std::numbers::pi / static_cast<double>(phases.size()); }
  /// The bin whose middle is nearest to a phase, around the circle.
  [[nodiscard]] std::size_t phase_at(double phase) const;
  /// Right edge of the last column.
  [[nodiscard]] double end() const { return static_cast<double>(columns() * step) + 0.5; }
};

/// @param rows  layer * heads + head of those shown, which say how far frequencies go: to where a direction of one of
///              them is last louder than its own median by a tenth of the largest such (1 % of the energy)
/// @throws ShapeError if the Fields have other axes than described
PhaseMaps phase_maps(const Result& result, const std::vector<std::size_t>& rows);

/// How far a head's two maps differ: the root of the mean square difference of their cells over that of their larger
/// ones; 0 where both are the same.
double map_difference(const PhaseMaps& maps, std::size_t row);

/// The amplitude that one cell in a thousand of a head's two maps exceeds; 1 where there is none above 0.
double bright_amplitude(const PhaseMaps& maps, std::size_t row);

}  // namespace headwave
