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
  for (const double tail : {0.0, 1.0, -0.1, 1.1, std::nan("")}) CHECK_THROWS_AS(normal_quantile(tail), NumericError);
  CHECK_THROWS_WITH(normal_quantile(2), ContainsSubstring("a tail of 2; expected (0, 1)"));
}

TEST_CASE("tails of few documents are those of Student's t, as mpmath gives them with fifty digits") {
  CHECK(bootstrap_tail(0.05, 20) == Approx(0.038027205853879787).epsilon(1e-14));
  CHECK(bootstrap_tail(0.05, 5) == Approx(0.0085749741911887473).epsilon(1e-14));
  CHECK(bootstrap_tail(0.05, 2) == Approx(2.1495199420536518e-19).epsilon(1e-14));
  CHECK(bootstrap_tail(0.005, 21) == Approx(0.0017749947878460647).epsilon(1e-14));
  CHECK(bootstrap_tail(0.005, 10000) == Approx(0.0049910331925298387).epsilon(1e-14));
  CHECK(bootstrap_tail(0.05, 100000) == Approx(0.049997580237880589).epsilon(1e-14));
  CHECK_THROWS_AS(bootstrap_tail(0.05, 1), NumericError);
  CHECK_THROWS_AS(bootstrap_tail(0, 20), NumericError);
  CHECK_THROWS_AS(bootstrap_tail(0.5, 20), NumericError);
}
