#include "phase_ridges.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace headwave {

namespace {

using std::numbers::pi;
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

}  // namespace headwave
