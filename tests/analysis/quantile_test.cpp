#include "../../analysis/statistics/quantile.h"

#include <cmath>
#include <limits>

#include "../../core/errors/error.h"
#include "../catch.h"

using headwave::quantile;

TEST_CASE("quantiles interpolate between the two nearest values") {
  CHECK(quantile({4, 1, 3, 2}, 0.5) == 2.5);
  CHECK(quantile({4, 1, 3, 2}, 0.25) == 1.75);
  CHECK(quantile({4, 1, 3, 2}, 0.75) == 3.25);
  CHECK(quantile({4, 1, 3, 2}, 0.0) == 1.0);
  CHECK(quantile({4, 1, 3, 2}, 1.0) == 4.0);
  CHECK(quantile({7}, 0.3) == 7.0);
  const double infinity = std::numeric_limits<double>::infinity();
  CHECK(quantile({1, 2, infinity}, 0.5) == 2.0);
}

TEST_CASE("quantiles of rows are undefined where a draw is, or there is none") {
  const double infinity = std::numeric_limits<double>::infinity();
  const headwave::Matrix draws =
      (headwave::Matrix(3, 4) << 4, 1, 3, 2, 1, headwave::not_defined, 2, 3, 1, 2, 3, infinity).finished();
  const headwave::Vector found = headwave::row_quantiles(draws, 0.25);
  CHECK(found[0] == 1.75);
  CHECK(std::isnan(found[1]));
  CHECK(std::isnan(found[2]));
  CHECK(std::isnan(headwave::row_quantiles(headwave::Matrix(1, 0), 0.5)[0]));
  CHECK_THROWS_WITH(headwave::row_quantiles(draws, 2),
                    ContainsSubstring("quantile: expected q between 0 and 1, found 2"));
}

TEST_CASE("quantiles refuse what has none") {
  CHECK_THROWS_WITH(quantile({}, 0.5), ContainsSubstring("quantile: expected at least one value, found none"));
  CHECK_THROWS_WITH(quantile({1, 2}, -0.1), ContainsSubstring("quantile: expected q between 0 and 1, found -0.1"));
  CHECK_THROWS_WITH(quantile({1, 2}, 1.1), ContainsSubstring("quantile: expected q between 0 and 1, found 1.1"));
  CHECK_THROWS_WITH(quantile({1, std::numeric_limits<double>::quiet_NaN()}, 0.5), ContainsSubstring("NaN"));
}
