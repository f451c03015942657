#include "../../analysis/statistics/false_discovery.h"

#include <cmath>
#include <limits>

#include "../../core/numbers/random.h"
#include "../catch.h"

using namespace headwave;

namespace {

/// A tenth of uniform p-values is at most 0.1, within three standard errors.
void check_uniform(const Vector& p) {
  const auto count = static_cast<double>(p.size());
  CHECK(static_cast<double>((p.array() <= 0.1).count()) / count == Approx(0.1).margin(3 * std::sqrt(0.09 / count)));
}

}  // namespace

TEST_CASE("adjusted p-values are those of Benjamini and Hochberg, worked by hand") {
  Vector p(6);
  p << 0.01, 0.04, not_defined, 0.03, 0.005, 0.5;  // five that count
  const Vector q = q_values(p);
  CHECK(q[4] == Approx(0.025));  // 0.005 * 5 / 1
  CHECK(q[0] == Approx(0.025));  // 0.01 * 5 / 2
  CHECK(q[3] == Approx(0.05));   // 0.03 * 5 / 3
  CHECK(q[1] == Approx(0.05));   // 0.04 * 5 / 4
  CHECK(q[5] == Approx(0.5));
  CHECK(std::isnan(q[2]));
  CHECK(q_values(Vector()).size() == 0);
}

TEST_CASE("pooled p-values are uniform for heads like their draws, and small for a head unlike them") {
  Random random(3);
  constexpr Index heads = 200, draws = 20;
  const auto share = [&](double centre) { return 1 / (1 + std::exp(-(centre + random.normal()))); };
  Vector observed(heads);
  Matrix null(heads, draws);
  for (Index h = 0; h < heads; ++h) {
    const double centre = 0.02 * static_cast<double>(h) - 2;  // every head has a null of its own
    observed[h] = share(centre);
    for (Index d = 0; d < draws; ++d) null(h, d) = share(centre);
  }
  Vector p = pooled_p_values(observed, null, NullScale::share);
  check_uniform(p);
  observed[7] = 0.9999;
  p = pooled_p_values(observed, null, NullScale::share);
  CHECK(p[7] <= 2.0 / (heads * draws));
}

TEST_CASE("pooled p-values of coherences are uniform, also where every other draw is below zero") {
  Random random(5);
  constexpr Index heads = 200, draws = 20;
  Vector observed(heads);
  Matrix null(heads, draws);
  for (Index h = 0; h < heads; ++h) {
    const double centre = 0.005 * static_cast<double>(h) - 0.3;  // the first heads' draws are mostly negative
    observed[h] = std::tanh(centre + 0.4 * random.normal());
    for (Index d = 0; d < draws; ++d) null(h, d) = std::tanh(centre + 0.4 * random.normal());
  }
  const Vector p = pooled_p_values(observed, null, NullScale::coherence);
  check_uniform(p);
}

TEST_CASE("a single draw at zero or below does not silence its head") {
  Random random(7);
  constexpr Index heads = 72, draws = 20;
  Vector observed(heads);
  Matrix null(heads, draws);
  for (Index h = 0; h < heads; ++h) {
    observed[h] = std::tanh(0.4 + 0.25 * random.normal());
    for (Index d = 0; d < draws; ++d) null(h, d) = std::abs(std::tanh(0.4 + 0.25 * random.normal()));
  }
  // What was seen of a real head: coherence 0.989 above draws up to 0.767, one of them not above 0.
  for (const double lowest : {0.3, 1e-13, 0.0, -0.02, -0.3}) {
    CAPTURE(lowest);
    observed[3] = 0.989;
    null.row(3).setLinSpaced(0.2, 0.767);
    null(3, 11) = lowest;
    const Vector p = pooled_p_values(observed, null, NullScale::coherence);
    CHECK(p[3] <= 2.0 / (heads * draws));
    CHECK(q_values(p)[3] <= 0.05);
  }
  null.row(3).setConstant(0.5);
  null(3, 0) = 0;
  CHECK(pooled_p_values(observed, null, NullScale::share)[3] <= 0.01);
}

TEST_CASE("numbers at the ends of their scale are numbers: neither NaN nor beyond all others") {
  Vector observed(3);
  observed << 1, 1 + 1e-15, 0.2;
  Matrix null(3, 4);
  null << 0.1, 0.2, 0.3, 0.4, 0.1, 0.2, 0.3, 1 + 1e-15, -1, -0.2, 0.3, 0.1;
  for (const NullScale scale : {NullScale::coherence, NullScale::share}) {
    const Vector p = pooled_p_values(observed, null, scale);
    CHECK(p.allFinite());
    CHECK(p[0] <= 2.0 / 13);
    CHECK(p[2] > 0.1);
  }
}

TEST_CASE("heads without draws, without an observation or with draws that are all equal are told apart") {
  Vector observed(4);
  observed << 0.5, not_defined, 0.9, 0.4;
  Matrix null(4, 3);
  null << 0.1, 0.2, not_defined, 0.1, 0.2, 0.3, 0.4, 0.4, 0.4, 0.4, 0.4, 0.4;
  const Vector p = pooled_p_values(observed, null, NullScale::share);
  CHECK(std::isnan(p[0]));
  CHECK(std::isnan(p[1]));
  CHECK(p[2] == Approx(0.25));
  CHECK(p[3] == 1);
  CHECK(std::isnan(pooled_p_values(observed, Matrix(4, 0), NullScale::share)[0]));
}
