// Whether anything is called changed more often than mean_change() says where nothing is.

#include <cmath>

#include "../../analysis/statistics/mean_change.h"
#include "../../core/numbers/random.h"
#include "../catch.h"

using namespace headwave;

namespace {

/// Offset profiles as attention has them: skewed, and entries of a document alike.
std::vector<Matrix> skewed_documents(Index documents, Random random) {
  std::vector<Matrix> set;
  for (Index d = 0; d < documents; ++d) {
    const double common = random.normal();
    set.emplace_back(12, 17);
    for (double& entry : set.back().reshaped()) entry = std::exp(0.5 * common + random.normal());
  }
  return set;
}

}  // namespace

TEST_CASE("of two sets of like documents at most the stated share is called changed", "[chance]") {
  constexpr Index repeats = 200;
  for (const bool paired : {false, true}) {
    Index called = 0;
    for (Index r = 0; r < repeats; ++r) {
      const Random random = Random(23).stream(static_cast<std::uint64_t>(r));
      const MeanChange change =
          mean_change(skewed_documents(10, random.stream(1)), skewed_documents(10, random.stream(2)), paired,
                      {.draws = 199, .seed = static_cast<std::uint64_t>(r)});
      bool any = false;
      for (Index row = 0; row < 12; ++row)
        for (Index c = 0; c < 17; ++c) any = any || change.beyond(row, c);
      called += any ? 1 : 0;
    }
    WARN((paired ? "the same documents" : "other documents") << ": called " << called << " of " << repeats);
    CHECK(called <= 19);  // 5 % of 200, and three standard errors
    CHECK(called >= 1);   // and bands are no wider than they should be
  }
}
