#include "followed_shifts.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace headwave {

FollowedShifts followed_shifts(const std::vector<Index>& shifts, const Vector& offsets) {
  const auto zero = std::find(shifts.begin(), shifts.end(), 0) - shifts.begin();
  if (offsets.size() != static_cast<Index>(shifts.size()) || zero == offsets.size())
    throw ShapeError(fmt::format("followed_shifts: {} shifts and {} offsets; expected as many, and a shift of 0",
                                 shifts.size(), offsets.size()));
  double followed = 0, tried = 0, product = 0, square = 0;
  Index fitted = 0;
  for (Index s = 0; s < offsets.size(); ++s) {
    const auto u = static_cast<double>(shifts[static_cast<std::size_t>(s)]);
    if (u == 0) continue;
    const double moved = offsets[s] - offsets[zero];
    tried += 1;
    if (moved == -u) followed += 1;
    if (!(std::abs(moved + u) <= std::abs(u))) continue;
    ++fitted;
    product += u * moved;
    square += u * u;
  }
  return {tried > 0 && !std::isnan(offsets[zero]) ? followed / tried : not_defined,
          fitted > 0 ? product / square : not_defined, fitted};
}

}  // namespace headwave
