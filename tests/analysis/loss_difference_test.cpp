#include <cmath>

#include "../../analysis/statistics/mean_change.h"
#include "../../core/errors/error.h"
#include "../catch.h"

using namespace headwave;

TEST_CASE("the difference of two losses and its error by hand") {
  // Differences of 1, 2 and 3 nats over one token each: mean 2, standard deviation 1, error 1/sqrt(3).
  const std::vector<PredictionLoss> before{{1, 5.0}, {1, 6.0}, {1, 7.0}}, after{{1, 6.0}, {1, 8.0}, {1, 10.0}};
  const LossDifference difference = loss_difference(before, after);
  CHECK(difference.mean == Approx(2));
  CHECK(difference.standard_error == Approx(1 / std::sqrt(3.0)));
  CHECK(std::isnan(loss_difference({{1, 5.0}}, {{1, 6.0}}).standard_error));
  CHECK_THROWS_AS(loss_difference(before, {{1, 5.0}}), ShapeError);
  CHECK_THROWS_WITH(loss_difference(before, {{1, 6.0}, {2, 8.0}, {1, 10.0}}), ContainsSubstring("1 and 2 tokens"));
  // Documents of 1 and 3 tokens: the mean is (1 + 1) / 4, the residuals 1 - 0.5 and 1 - 1.5, n / (n - 1) = 2.
  const LossDifference weighted = loss_difference({{1, 5.0}, {3, 6.0}}, {{1, 6.0}, {3, 7.0}});
  CHECK(weighted.mean == Approx(0.5));
  CHECK(weighted.standard_error == Approx(std::sqrt(2 * (0.25 + 0.25)) / 4));
}
