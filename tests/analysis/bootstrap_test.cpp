#include <cmath>
#include <numeric>

#include "../../analysis/statistics/quantile.h"
#include "../../core/errors/error.h"
#include "../catch.h"

using namespace headwave;

TEST_CASE("an interval over few documents is wider than its percentiles, and undefined where the estimate is",
          "[analysis]") {
  // Resamples give 0, 1, ..., 1000 by turns.
  double next = 0;
  const auto counted = [&](const std::vector<double>& times) {
    CHECK(std::accumulate(times.begin(), times.end(), 0.0) == static_cast<double>(times.size()));
    return Vector(Vector::Constant(2, next++));
  };
  const Vector estimate = (Vector(2) << 500, not_defined).finished();
  ResampleOptions options;
  options.resamples = 1001;
  const BootstrapInterval few = bootstrap_interval(estimate, 5, options, Random(1), counted);
  // 1000 times the tail of Student's t that mpmath gives for five documents with fifty digits.
  CHECK(few.lower[0] == Approx(8.5749741911887473));
  CHECK(few.upper[0] == Approx(1000 - 8.5749741911887473));
  CHECK(std::isnan(few.lower[1]));
  CHECK(std::isnan(few.upper[1]));
  CHECK(std::isnan(bootstrap_interval(estimate, 4, options, Random(1), counted).lower[0]));
  options.least_documents = 0;
  CHECK(std::isnan(bootstrap_interval(estimate, 1, options, Random(1), counted).lower[0]));
  options.coverage = 1;
  CHECK_THROWS_WITH(bootstrap_interval(estimate, 5, options, Random(1), counted),
                    ContainsSubstring("an interval of coverage 1 from 5 values"));
  options.resamples = 1;
  CHECK(std::isnan(bootstrap_interval(estimate, 5, options, Random(1), counted).upper[0]));
}
