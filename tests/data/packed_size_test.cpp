#include "../../data/results/packed_size.h"

#include "../../core/numbers/random.h"
#include "../catch.h"

using namespace headwave;

namespace {

Field field_of(std::vector<double> values) {
  const auto last = static_cast<Index>(values.size()) - 1;
  return make_field("a/b", {counting_axis("n", "1", "number", 0, last)}, "1", "values", std::move(values));
}

}  // namespace

TEST_CASE("noise is hardly packed, repeated numbers nearly vanish, and what is small stays as it is") {
  Random random(1);
  std::vector<double> noise(200000), half(200000, 1.5);
  for (double& value : noise) value = random.uniform();
  std::copy(noise.begin(), noise.begin() + 100000, half.begin());
  CHECK(packed_share(field_of(noise)) > 0.8);
  CHECK(packed_share(field_of(noise)) <= 1);
  CHECK(packed_share(field_of(std::vector<double>(200000, 1.5))) < 0.05);
  // The sample is from all over: half of this is noise.
  CHECK(packed_share(field_of(half)) > 0.3);
  CHECK(packed_share(field_of(half)) < 0.7);
  CHECK(packed_share(field_of(std::vector<double>(100, 1.5))) == 1);
  CHECK(packed_share(field_of({})) == 1);
}

TEST_CASE("texts are not packed") {
  const Field texts{"a/b", {}, "1", "texts", std::vector<std::string>{"x"}, {}, {}};
  CHECK(packed_share(texts) == 1);
}
