#include <cmath>

#include "../../analysis/predictions/head_account.h"
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

TEST_CASE("an explained share is that of a sum of squares on the page", "[analysis]") {
  const Vector measured = (Vector(3) << std::exp(1.0), std::exp(2.0), std::exp(3.0)).finished();
  const Vector predicted = (Vector(3) << std::exp(2.0), std::exp(3.0), std::exp(5.0)).finished();
  // Differences 1, 1, 2 against deviations -1, 0, 1; centred -1/3, -1/3, 2/3.
  CHECK(explained_share(measured, predicted, false) == Approx(1 - 6.0 / 2.0));
  CHECK(explained_share(measured, predicted, true) == Approx(1 - (6.0 / 9.0) / 2.0));
  CHECK(explained_share(measured, measured, false) == 1.0);
  CHECK(std::isnan(explained_share(measured.head(2), predicted.head(2), false)));
  CHECK(std::isnan(explained_share(Vector::Constant(5, 0.2), Vector::Constant(5, 0.1), true)));
  const Vector masked = (Vector(4) << measured, not_defined).finished();
  CHECK(explained_share(masked, (Vector(4) << predicted, 1.0).finished(), true) ==
        explained_share(measured, predicted, true));
}
