#include "../../analysis/statistics/defined_mean.h"

#include <cmath>

#include "../catch.h"

using namespace headwave;

TEST_CASE("a mean counts an entry in the documents that define it, and is NaN where none does") {
  DefinedMean mean(1, 3);
  CHECK(std::isnan(mean.value()(0, 0)));
  const double none = std::nan("");
  mean.add(Matrix{{1, 5, none}});
  mean.add(Matrix{{3, none, none}});
  CHECK(mean.value()(0, 0) == 2);
  CHECK(mean.value()(0, 1) == 5);
  CHECK(std::isnan(mean.value()(0, 2)));
}
