#pragma once

#include <array>
#include <cmath>
#include <numbers>
#include <string_view>
#include <vector>

#include "../../core/fields/field.h"
#include "../drawing/data_table.h"

namespace headwave {

/// The frequencies of a Field, 0, 1, ... in cycles per T tokens.
struct FrequencySpan {
  std::size_t count = 0;  ///< how many, 0 among them: floor(T/2) + 1
  double length = 0;      ///< T in tokens
};

/// Reads the axis `frequency`, and T from an attribute of the Field; without one T is even.
/// @param attribute  the name under which T is kept
/// @throws ShapeError if the axis does not count 0, 1, ..., or has another length than T asks for
FrequencySpan frequency_span(const Field& field, std::string_view attribute);

/// The last frequency at which a curve exceeds `share` of its largest value, 0 left out; 0 where nothing is
/// positive.
/// @param curve  (frequencies)  from f = 0
std::size_t last_loud(const std::vector<double>& curve, double share);

/// The last frequency that a figure shows: a tenth beyond the loud ones, at least T/8 and 2, at most all.
/// @param loud  of last_loud()
std::size_t last_shown(const FrequencySpan& span, std::size_t loud);

inline constexpr std::array phase_map_names{"phase_spectrum/query", "phase_spectrum/key"};

/// The two maps of every head as cells of a picture, without frequency 0. If more than 400 frequencies would
/// be shown, neighbours share a cell, which shows the largest.
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
  /// @returns the amplitude shown, NaN if no amplitude is finite
  [[nodiscard]] double cell(std::size_t side, std::size_t row, std::size_t column, std::size_t phase) const;
  /// Middle of a column, cycles per T tokens.
  [[nodiscard]] double frequency(std::size_t column) const {
    return 1 + static_cast<double>(column * step) + static_cast<double>(step - 1) / 2;
  }
  /// Width of a bin of phases, rad.
  [[nodiscard]] double bin() const { return 2 * std::numbers::pi / static_cast<double>(phases.size()); }
  /// The bin whose middle is nearest to a phase on the circle.
  [[nodiscard]] std::size_t phase_at(double phase) const;
  /// Right edge of the last column.
  [[nodiscard]] double end() const { return static_cast<double>(columns() * step) + 0.5; }
};

/// @param rows  of the heads shown, layer * heads + head. They decide the last frequency: where a direction
///              of one of them is last louder than its own median by a tenth of the largest such difference
///              (1 % of the energy)
/// @throws ShapeError if the Fields have other axes than described
PhaseMaps phase_maps(const Result& result, const std::vector<std::size_t>& rows);

/// Relative difference of a head's two maps: the root mean square difference of their cells divided by that
/// of the larger cells; 0 if both are the same.
double map_difference(const PhaseMaps& maps, std::size_t row);

/// The amplitude that one cell in a thousand of a head's two maps exceeds; 1 if no amplitude is above 0.
double bright_amplitude(const PhaseMaps& maps, std::size_t row);

/// The part of the plane of frequency and phase that a panel shows: all phases in (-pi, pi].
struct RidgeWindow {
  double first = 0;   ///< frequency at the left edge, cycles per T tokens
  double last = 1;    ///< frequency at the right edge
  double length = 2;  ///< T in tokens
};

/// The edge of the panel that a ridge comes to first.
enum class Leaves { right, above, below };

/// The ridge of one delay: theta = 2 pi f delta / T, wrapped into (-pi, pi].
struct PhaseRidge {
  double delta = 0;       ///< tokens by which keys run ahead of queries; the attended offset is t* = -delta
  bool measured = false;  ///< whether t* is the head's measured offset
  bool labelled = true;   ///< false if its label would touch the measured one's, or one nearer to 0
  Leaves leaves = Leaves::right;
  double frequency = 0;  ///< where it leaves the panel
  double phase = 0;
  DataTable line;  ///< (frequency, phase), NaN between two pieces
};

/// The ridges of delta = -3 .. 3 without 0, and the measured offset's if it lies farther off, up to 16
/// tokens.
/// @param measured     offset in tokens; NaN: none
/// @param label_width  as a share of the panel's width
std::vector<PhaseRidge> phase_ridges(const RidgeWindow& window, double measured, double label_width);

}  // namespace headwave
