#include "followed_keys.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../../core/numbers/offset_peak.h"

namespace headwave {

namespace {

constexpr double told_from = 0.1;  // of the mass has to lie elsewhere

/// The mass that two profiles share, as distributions over the offsets at which both are defined.
/// @returns NaN where fewer than `least` offsets are left, or one has no mass there
double shared_mass(Eigen::Ref<const Vector> one, Eigen::Ref<const Vector> other, Index least) {
  double of_one = 0, of_other = 0;
  Index there = 0;
  for (Index t = 0; t < one.size(); ++t) {
    if (std::isnan(one[t]) || std::isnan(other[t])) continue;
    ++there;
    of_one += one[t];
    of_other += other[t];
  }
  if (there < least || !(of_one > 0) || !(of_other > 0)) return not_defined;
  double shared = 0;
  for (Index t = 0; t < one.size(); ++t)
    if (!std::isnan(one[t]) && !std::isnan(other[t])) shared += std::min(one[t] / of_one, other[t] / of_other);
  return shared;
}

/// The same after the profile before is displaced by s. At least half of the reach has to be left.
double shared_after(const Vector& before, const Vector& after, Index s) {
  const Index width = before.size(), least = std::max<Index>(1, width / 4);
  return s > 0 ? shared_mass(after.tail(width - s), before.head(width - s), least)
               : shared_mass(after.head(width + s), before.tail(width + s), least);
}

}  // namespace

Index profile_displacement(const Vector& before, const Vector& after) {
  if (before.size() != after.size() || before.size() % 2 == 0)
    throw ShapeError(fmt::format("profile_displacement: profiles of {} and {} offsets; expected 2 reach + 1 in both",
                                 before.size(), after.size()));
  constexpr double rounding = 1e-12;  // of equal ones the first counts
  Index best = 0;
  double largest = shared_after(before, after, 0);
  for (Index away = 1; away <= before.size() / 2; ++away)
    for (const Index s : {-away, away}) {
      const double shared = shared_after(before, after, s);
      if (!(shared > largest + rounding)) continue;
      largest = shared;
      best = s;
    }
  return best;
}

FollowedDocuments followed_documents(const std::vector<Index>& shifts, const std::vector<MovedProfiles>& documents,
                                     const OffsetLimits& limits) {
  const auto count = std::ssize(shifts);
  Vector asked = Vector::Zero(count), followed = Vector::Zero(count);
  for (const MovedProfiles& document : documents) {
    if (document.after.rows() != count || document.after.cols() != document.before.size())
      throw ShapeError(fmt::format("followed_documents: {} x {} numbers for {} shifts and {} offsets",
                                   document.after.rows(), document.after.cols(), count, document.before.size()));
    const auto peak = offset_peak(document.before, limits.causal);
    if (!peak || peak->at_edge) continue;
    const Index reach = document.before.size() / 2;
    const Index furthest = limits.window > 0 ? std::min(reach, limits.window - 1) : reach;
    for (Index s = 0; s < count; ++s) {
      const Index u = shifts[static_cast<std::size_t>(s)], there = peak->offset - u;
      if (std::abs(there) > furthest || (limits.causal && there > 0)) continue;
      if (!(shared_after(document.before, document.before, -u) <= 1 - told_from)) continue;
      asked[s] += 1;
      if (profile_displacement(document.before, document.after.row(s).transpose()) == -u) followed[s] += 1;
    }
  }
  for (Index s = 0; s < count; ++s)
    if (asked[s] == 0) asked[s] = followed[s] = not_defined;
  return {followed, asked};
}

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
