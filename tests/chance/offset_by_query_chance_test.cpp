// Whether intervals of the share beyond the reach hold it as often as stated.

#include <cmath>

#include "../../analysis/predictions/offset_by_query.h"
#include "../../core/numbers/random.h"
#include "../analysis/test_pass.h"
#include "../catch.h"

using namespace headwave;

namespace {

BandTraces seen(const Matrix32& weights, const QueryBands& bands, Index reach) {
  BandTraceProbe probe(one_head, bands, reach, AttentionKind::self);
  Tile tile;
  tile.queries = tile.keys = weights.rows();
  tile.weights = {weights};
  probe.see(tile);
  return probe.taken();
}

}  // namespace

TEST_CASE("nine of ten intervals hold the share beyond the reach", "[chance]") {
  const QueryBands bands(64, 4, false);
  constexpr Index repeats = 200, documents = 12;
  // Documents differ in how much they look at their last key; half of them do not at all.
  const auto document = [&](Random& random) {
    Matrix32 weights = Matrix32::Constant(64, 64, 1.0F / 64);
    const auto drawn = static_cast<float>(std::max(0.0, random.normal()) / 4);
    weights *= 1 - std::min(1.0F, drawn);
    weights.col(63).array() += std::min(1.0F, drawn);
    return seen(weights, bands, 8);
  };
  double truth = 0;
  Random many(1);
  for (Index d = 0; d < 20000; ++d) truth += document(many).beyond(0, 0) / (16 * 20000.0);
  Index covered = 0;
  for (Index r = 0; r < repeats; ++r) {
    Random random = Random(9).stream(static_cast<std::uint64_t>(r));
    OffsetByQuerySums sums;
    for (Index d = 0; d < documents; ++d) add_to(sums, OffsetByQuerySums(document(random)));
    OffsetByQueryOptions options;
    options.reach = 8;
    const ShareInterval beyond = offset_by_query(one_head, bands, sums, options).beyond.front();
    covered += beyond.lower[0] <= truth && truth <= beyond.upper[0] ? 1 : 0;
  }
  WARN("covered " << covered << " of " << repeats);
  CHECK(covered >= 164);  // 90 %, less what a skew share and twelve documents cost
}
