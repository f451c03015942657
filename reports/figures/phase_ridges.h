#pragma once

#include <vector>

#include "../drawing/data_table.h"

namespace headwave {

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
  bool labelled = true;   ///< false where its label would touch that of the measured one, or of one nearer to 0
  Leaves leaves = Leaves::right;
  double frequency = 0;  ///< where it leaves
  double phase = 0;
  DataTable line;  ///< (frequency, phase), NaN between two pieces
};

/// The ridges of delta = -3 .. 3 but 0, and that of the measured offset where it lies farther off, up to 16 tokens.
/// @param measured     offset in tokens; NaN: none
/// @param label_width  as a share of the panel's width
std::vector<PhaseRidge> phase_ridges(const RidgeWindow& window, double measured, double label_width);

}  // namespace headwave
