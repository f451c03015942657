#include "../../analysis/statistics/moderated_test.h"

#include <cmath>

#include "../../core/numbers/random.h"
#include "../catch.h"

using namespace headwave;

TEST_CASE("few items are tested by their own variances: Student's t", "[analysis]") {
  ItemSums sums(2);
  for (const double x : {1.0, 2.0, 3.0, 6.0}) sums.add(0, x);
  for (const double x : {1.0, 2.0}) sums.add(1, x);  // two documents are too few
  const Vector p = moderated_p_values(sums);
  CHECK(p[0] == Approx(0.0345684).margin(1e-6));  // scipy 1.17: ttest_1samp([1, 2, 3, 6], 0, alternative='greater')
  CHECK(std::isnan(p[1]));
  CHECK(moderated_p_values(sums, {.two_sided = true})[0] == Approx(2 * 0.0345684).margin(1e-6));
}

TEST_CASE("items without an effect have uniform p-values, and planted ones small ones", "[analysis]") {
  constexpr Index items = 4000, documents = 4;
  Random random(1);
  ItemSums sums(items);
  for (Index i = 0; i < items; ++i) {
    const double deviation = std::exp(0.5 * random.normal());
    for (Index n = 0; n < documents; ++n) sums.add(i, (i < 40 ? 5 : 0) + deviation * random.normal());
  }
  const Vector p = moderated_p_values(sums);
  for (const double level : {0.001, 0.01, 0.05}) {
    const auto below = static_cast<double>((p.tail(items - 40).array() <= level).count());
    const double expected = level * (items - 40);
    CHECK(below < expected + 3 * std::sqrt(expected));
    CHECK(below > expected - 3 * std::sqrt(expected));
  }
  CHECK((p.head(40).array() <= 1e-3).count() >= 30);
}
