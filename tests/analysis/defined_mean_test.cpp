
#include <cmath>

#include "../catch.h"

using namespace headwave;

TEST_CASE("a mean counts an entry in the documents that define it, and is NaN where none does") {
  const double none = std::nan("");
  DefinedMean mean(Matrix{{1, 5, none}});
  add_to(mean, DefinedMean(Matrix{{3, none, none}}));
  CHECK(mean.value()(0, 0) == 2);
  CHECK(mean.value()(0, 1) == 5);
  CHECK(std::isnan(mean.value()(0, 2)));
}
