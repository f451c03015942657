#include "../../analysis/statistics/published_measures.h"
#include "../../core/errors/error.h"
#include "../catch.h"

using namespace headwave;

TEST_CASE("the clearest heads are those with the largest weights among heads with an offset") {
  const Vector offset{{-1, not_defined, 3, 0, -2}}, weight{{0.2, 0.9, 0.4, 0.2, 0.1}};
  CHECK(clearest_heads(offset, weight, 3) == std::vector<Index>{2, 0, 3});
  CHECK(clearest_heads(offset, weight, 9) == std::vector<Index>{2, 0, 3, 4});
  CHECK(clearest_heads(Vector{{not_defined, not_defined}}, Vector{{1, 2}}, 4).empty());
  CHECK_THROWS_AS(clearest_heads(offset, Vector(4), 3), ShapeError);
}

TEST_CASE("a mean over heads with an offset leaves the others out") {
  const Vector offset{{-1, not_defined, 3, not_defined}};
  CHECK(mean_with_offset(offset, Vector{{2, 100, 5, not_defined}}) == 3.5);
  CHECK(std::isnan(mean_with_offset(offset, Vector{{2, 1, not_defined, 1}})));
  CHECK(std::isnan(mean_with_offset(Vector{{not_defined}}, Vector{{1}})));
  CHECK(std::isnan(mean_with_offset(Vector(), Vector())));
  CHECK_THROWS_AS(mean_with_offset(offset, Vector(3)), ShapeError);
}
