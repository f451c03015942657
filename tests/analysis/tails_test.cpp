#include <cmath>

#include "../../analysis/statistics/quantile.h"
#include "../catch.h"

using namespace headwave;

TEST_CASE("normal quantiles are those of mpmath with fifty digits") {
  CHECK(normal_quantile(0.025) == Approx(1.9599639845400542).epsilon(1e-15));
  CHECK(normal_quantile(7.874015748031496e-05) == Approx(3.7789669606681628).epsilon(1e-15));  // 0.01 of 127 offsets
  CHECK(normal_quantile(1e-12) == Approx(7.0344838253011319).epsilon(1e-15));
  CHECK(normal_quantile(0.975) == Approx(-1.9599639845400539).epsilon(1e-15));
  CHECK(normal_quantile(0.5) == 0);
  for (const double tail : {0.0, 1.0, -0.1, 1.1, std::nan("")})
    CHECK_THROWS_WITH(normal_quantile(tail),
                      ContainsSubstring("normal_quantile: expected a tail probability between 0 and 1, both"));
  CHECK_THROWS_WITH(normal_quantile(2),
                    ContainsSubstring("expected a tail probability between 0 and 1, both excluded, found 2"));
}
