// Whether intervals of the share beyond the reach hold it as often as stated.

#include <cmath>

#include "../../core/numbers/random.h"
#include "../analysis/test_pass.h"
#include "../catch.h"

using namespace headwave;

TEST_CASE("nine of ten intervals hold the share beyond the reach", "[chance]") {
  constexpr Index repeats = 200, documents = 12, length = 64, reach = 8;
  // Documents differ in how much they look at their last key; half of them do not at all.
  const auto document = [&](Random& random) {
    Matrix32 weights = Matrix32::Constant(length, length, 1.0F / length);
    const auto drawn = static_cast<float>(std::max(0.0, random.normal()) / 4);
    weights *= 1 - std::min(1.0F, drawn);
    weights.col(length - 1).array() += std::min(1.0F, drawn);
    return weights;
  };
  double truth = 0;
  Random many(1);
  for (Index d = 0; d < 20000; ++d) {
    const Matrix32 weights = document(many);
    for (Index i = 0; i < length; ++i) {
      const Index from = std::max<Index>(0, i - reach), end = std::min(length, i + reach + 1);
      const double near = static_cast<double>(weights.row(i).segment(from, end - from).sum());
      truth += (1 - near) / static_cast<double>(length * 20000);
    }
  }
  Index covered = 0;
  TestPass pass;
  pass.options.reach = reach;
  for (Index r = 0; r < repeats; ++r) {
    Random random = Random(9).stream(static_cast<std::uint64_t>(r));
    std::vector<ShownDocument> shown;
    for (Index d = 0; d < documents; ++d) shown.push_back(shown_weights({document(random)}, document_of(length)));
    const std::vector<Field> fields = pass.fields("offset_by_query", shown);
    covered += field_of(fields, "offset_by_query/share_lower").doubles()[0] <= truth &&
                       truth <= field_of(fields, "offset_by_query/share_upper").doubles()[0]
                   ? 1
                   : 0;
  }
  WARN("covered " << covered << " of " << repeats);
  CHECK(covered >= 164);  // 90 %, less what a skew share and twelve documents cost
}
