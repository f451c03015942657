// Heads whose rows of weights sum to less than 1, since a learned sink takes the rest.

#include <array>
#include <cmath>

#include "../../analysis/attention/offset_trace.h"
#include "../../core/attention/attend.h"
#include "../catch.h"
#include "../test_numbers.h"
#include "found_head_types.h"
#include "test_pass.h"

using namespace headwave;

namespace {

constexpr Index length = 12;
const Mask<float> causal{true, {}};

Document a_document() {
  Document document;
  for (Index i = 0; i < length; ++i) document.ids.push_back(static_cast<std::int32_t>(i % 4));
  document.special.assign(static_cast<std::size_t>(length), 0);
  return document;
}

/// Shows a probe a causal head without preferences, whose sink has a score of ln `weight` beside the keys' zeros.
void show_even_head(Probe& probe, double weight) {
  const Matrix32 zeros = Matrix32::Zero(length, 3);
  const Vector32 sink = Vector32::Constant(1, static_cast<float>(std::log(weight)));
  HeadInputs<float> inputs{zeros, zeros, zeros, 1, 1, 1.0};
  inputs.sinks = sink;
  const std::array<Probe*, 1> probes{&probe};
  (void)attend<float>(inputs, causal, {0, AttentionKind::causal}, probes);
}

}  // namespace

TEST_CASE("entropies and baselines are of what a learned sink leaves, by hand") {
  const Document document = a_document();
  const HeadTypes types(TestPass{.kind = AttentionKind::causal}.fields(
      "head_types", {{document, [&](Probe& probe) { show_even_head(probe, 5); }}}));
  double taken = 0, entropy = 0;
  for (Index i = 0; i < length; ++i) {
    taken += 5.0 / static_cast<double>(i + 6) / static_cast<double>(length);  // i + 1 keys of weight 1 beside 5
    entropy += std::log(static_cast<double>(i + 1)) / static_cast<double>(length);
  }
  CHECK(types.of(HeadScore::learned_sink)[0] == Approx(taken).epsilon(1e-6));
  CHECK(types.of(HeadScore::entropy)[0] == Approx(entropy).epsilon(1e-6));
  CHECK(types.of(HeadScore::entropy_share)[0] == Approx(1.0).epsilon(1e-6));
  CHECK(types.of(HeadScore::duplicate)[0] == Approx(types.of(HeadScore::duplicate_baseline)[0]).epsilon(1e-6));
  CHECK(types.of(HeadScore::induction)[0] == Approx(types.of(HeadScore::induction_baseline)[0]).epsilon(1e-6));
}

TEST_CASE("a head without a preference stands nowhere above the null, whatever its learned sink takes") {
  const Document document = a_document();
  OffsetTraceProbe probe({{0}, 1}, document, 4, AttentionKind::causal);
  show_even_head(probe, 5);
  const OffsetTraceSum sum = probe.taken();
  for (Index t = -4; t < 0; ++t) {
    CAPTURE(t);
    CHECK(sum.null_weight[all_pairs](0, t + 4) == Approx(sum.weight[all_pairs](0, t + length - 1)).epsilon(1e-6));
  }
}

TEST_CASE("a head without a learned sink has no score of one") {
  const Document document = a_document();
  const auto shown = [&](Probe& probe) {
    const Matrix32 zeros = Matrix32::Zero(length, 3);
    const std::array<Probe*, 1> probes{&probe};
    (void)attend<float>({zeros, zeros, zeros, 1, 1, 1.0}, causal, {0, AttentionKind::causal}, probes);
  };
  const HeadTypes types(TestPass{.kind = AttentionKind::causal}.fields("head_types", {{document, shown}}));
  CHECK(std::isnan(types.of(HeadScore::learned_sink)[0]));
}
