#include <cmath>

#include "../../analysis/why/head_account.h"
#include "../catch.h"

using namespace headwave;

TEST_CASE("strength and overlap are sums on the page", "[analysis]") {
  const Vector uniform = Vector::Constant(4, 0.1);
  const Vector measured = (Vector(4) << 0.5, 0.05, 0.15, 0.1).finished();
  const Vector predicted = (Vector(4) << 0.3, 0.1, 0.1, 0.1).finished();
  CHECK(profile_strength(measured, uniform) == Approx(0.45));
  // Misses 0.2, 0.05, 0.05, 0 of a mass of 0.4, 0.05, 0.05, 0.
  CHECK(profile_overlap(measured, predicted, uniform) == Approx(1 - 0.3 / 0.5));
  CHECK(profile_overlap(measured, measured, uniform) == 1);
  CHECK(profile_overlap(measured, uniform, uniform) == 0);
  CHECK(std::isnan(profile_overlap(uniform, predicted, uniform)));
  const Vector masked = (Vector(4) << 0.5, not_defined, 0.15, 0.1).finished();
  CHECK(profile_strength(masked, uniform) == Approx(0.45));
  CHECK(profile_overlap(masked, predicted, uniform) == Approx(1 - 0.25 / 0.45));
}

TEST_CASE("a sink that takes mass from all offsets has no strength of its own", "[analysis]") {
  const Vector uniform = Vector::Constant(5, 0.1);
  CHECK(profile_strength(Vector::Constant(5, 0.01), uniform) == 0);
  // What is left of the mass, 0.05, would be 0.01 at every offset.
  const Vector left = (Vector(5) << 0.03, 0.005, 0.005, 0.005, 0.005).finished();
  CHECK(profile_strength(left, uniform) == Approx(0.02));
}
