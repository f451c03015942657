#include "../../analysis/attention/measured_offset.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "../../analysis/attention/head_cluster.h"
#include "../../analysis/attention/offset_trace.h"
#include "../../core/numbers/random.h"
#include "../catch.h"
#include "test_pass.h"

using namespace headwave;

namespace {

OffsetTraceSum traces_of(const Matrix32& weights, const Document& document, Index reach,
                         AttentionKind kind = AttentionKind::self, Index longest = 0) {
  OffsetTraceProbe probe(one_head, document, reach, kind, longest);
  show(probe, weights, kind);
  return probe.taken();
}

/// Rows that sum to 1, a few keys far more popular than others.
Matrix32 uneven_weights(Index length, bool causal, std::uint64_t seed) {
  Random random(seed);
  Matrix32 weights = Matrix32::Zero(length, length);
  for (Index i = 0; i < length; ++i) {
    for (Index j = 0; j < (causal ? i + 1 : length); ++j)
      weights(i, j) = static_cast<float>(std::exp((j % 7 == 0 ? 2.0 : 1.0) * random.normal()));
    weights.row(i) /= weights.row(i).sum();
  }
  return weights;
}

OffsetTraces summed(std::vector<OffsetTraceSum> documents) {
  OffsetTraceSum sum;
  for (OffsetTraceSum& document : documents) add_to(sum, std::move(document));
  return offset_traces(sum, one_head);
}

}  // namespace

TEST_CASE("offset traces of three tokens by hand") {
  Matrix32 a(3, 3);
  a << 0.5F, 0.25F, 0.25F, 0.125F, 0.75F, 0.125F, 1, 0, 0;
  const OffsetTraceSum traces = traces_of(a, document_of(3), 2);
  const double expected[] = {1, 0.125, 1.25, 0.375, 0.25}, count[] = {1, 2, 3, 2, 1};
  for (Index t = 0; t < 5; ++t) {
    CHECK(traces.trace[0](0, t) == expected[t]);
    CHECK(traces.count[0][t] == count[t]);
  }
  // Keys 0, 1, 2 get 1.125, 0.25, 0.375 from the two others. At t = -1 stand keys 0 and 1, two pairs.
  CHECK(traces.null_weight[0](0, 1) == Approx((1.125 / 2 + 0.25 / 2) / 2));
  // Variances of two weights: (1 - 0.125)^2 / 2 and (0.25 - 0)^2 / 2.
  CHECK(traces.null[0].variances()(0, 1) == Approx((0.875 * 0.875 / 2 + 0.25 * 0.25 / 2) / 4));
}

TEST_CASE("pairs with special tokens and the first token are left out") {
  const Index length = 9;
  const Document document = document_of(length, {0, 5, 8});
  for (const AttentionKind kind : {AttentionKind::self, AttentionKind::causal}) {
    const Matrix32 a = uneven_weights(length, kind == AttentionKind::causal, 3);
    const OffsetTraceSum traces = traces_of(a, document, 8, kind);
    for (std::size_t pairs = 1; pairs < pairs_kinds; ++pairs)
      for (Index t = -8; t <= 8; ++t) {
        double sum = 0, count = 0;
        for (Index i = 0; i < length; ++i) {
          const Index j = i + t;
          if (j < 0 || j >= length || document.is_special(i) || document.is_special(j)) continue;
          if (kind == AttentionKind::causal && j > i) continue;
          if (pairs == 2 && (i == 0 || j == 0)) continue;
          sum += static_cast<double>(a(i, j));
          count += 1;
        }
        CAPTURE(pairs, t);
        CHECK(traces.count[pairs][t + 8] == count);
        CHECK(traces.trace[pairs](0, t + 8) == Approx(sum).margin(20 * std::numeric_limits<double>::epsilon()));
      }
  }
}

TEST_CASE("the null has the mean, variance and third moment of shuffled queries") {
  const Index length = 40, reach = 12;
  const int draws = 20000;
  for (const AttentionKind kind : {AttentionKind::self, AttentionKind::causal}) {
    const bool causal = kind == AttentionKind::causal;
    const Matrix32 a = uneven_weights(length, causal, 5);
    const OffsetTraceSum traces = traces_of(a, document_of(length), reach, kind);
    Random random(7);
    for (const Index t : {Index{-12}, Index{-1}, causal ? Index{-5} : Index{9}}) {
      Vector drawn(draws);
      for (double& sum : drawn) {
        sum = 0;
        for (Index i = std::max<Index>(0, -t); i < length && i + t < length; ++i) {
          const Index j = i + t;
          // A key gets the weight that one of the other queries gives it; a query gives what it gives one of those
          // before it.
          Index other = causal ? random.below(i) : random.below(length - 1);
          if (!causal && other >= j) ++other;
          sum += static_cast<double>(causal ? a(i, other) : a(other, j));
        }
      }
      const double pairs = traces.count[0][t + length - 1];
      const double sd = std::sqrt((drawn.array() - drawn.mean()).square().mean());
      CAPTURE(causal, t);
      // The mean of the draws is off by sd / sqrt(draws). Causal: the baseline is uniform with oneself among the keys,
      // the draws are without, so compare the spread only.
      if (!causal)
        CHECK(std::abs(drawn.mean() - pairs * traces.null_weight[0](0, t + reach)) < 5 * sd / std::sqrt(draws));
      CHECK(pairs * std::sqrt(traces.null[0].variances()(0, t + reach)) == Approx(sd).epsilon(causal ? 0.15 : 0.05));
      const double third = (drawn.array() - drawn.mean()).cube().mean();
      CHECK(std::pow(pairs, 3) * traces.null[0].thirds()(0, t + reach) == Approx(third).epsilon(0.35));
    }
  }
}

TEST_CASE("about as many heads without a preference are given an offset as the level says") {
  // 300 heads of uneven keys and no order, one document each, at a level of 10 %.
  const Index length = 64, heads = 300;
  Index given = 0;
  for (Index head = 0; head < heads; ++head) {
    const OffsetTraceSum one =
        traces_of(uneven_weights(length, false, 100 + static_cast<std::uint64_t>(head)), document_of(length), 31);
    const MeasuredOffsets measured = measured_offsets(summed({one}), {0.1});
    given += measured.status[0][0] == OffsetStatus::flat ? 0 : 1;
  }
  // Binomial: 30 expected, standard deviation 5; twice the level would be 60.
  CHECK(given > 5);
  CHECK(given < 60);
}

TEST_CASE("a mask that looks back only so far: its null and counts know it") {
  // Every query spreads evenly over the 3 keys it may look at: nothing rises above the null, and its mean is 1/3.
  const Index length = 12;
  Matrix32 weights = Matrix32::Zero(length, length);
  for (Index i = 0; i < length; ++i)
    for (Index j = std::max<Index>(0, i - 2); j <= i; ++j)
      weights(i, j) = 1.0F / static_cast<float>(std::min<Index>(i + 1, 3));
  Document document;
  document.ids.assign(length, 1);
  OffsetTraceProbe probe(one_head, document, 4, AttentionKind::causal);
  Tile tile;
  tile.kind = AttentionKind::causal;
  tile.queries = tile.keys = length;
  tile.window = 3;
  tile.weights = {weights};
  probe.see(tile);
  const OffsetTraceSum traces = probe.taken();
  for (Index t = -11; t <= 11; ++t)
    CHECK(traces.count[0][t + 11] == static_cast<double>(t <= 0 && t > -3 ? 12 + t : 0));
  // Of the 10 pairs at t = -2 each has 1/3; of the 11 at t = -1 the first has 1/2.
  CHECK(traces.null_weight[0](0, 2) == Approx(1.0 / 3));
  CHECK(traces.null_weight[0](0, 3) == Approx((0.5 + 10.0 / 3) / 11));
  CHECK(traces.null[0].variances()(0, 2) == Approx(0).margin(1e-12));
  CHECK(traces.documents_with_null[0][1] == 0);
}

TEST_CASE("a head that looks at the token before is measured, one that looks at itself is called self") {
  const Index length = 30;
  Matrix32 before = Matrix32::Constant(length, length, 0.01F), own = before;
  for (Index i = 0; i < length; ++i) {
    before(i, std::max<Index>(0, i - 1)) = 0.71F;
    own(i, i) = 0.71F;
  }
  const MeasuredOffsets left = measured_offsets(summed({traces_of(before, document_of(length), 10)}));
  CHECK(left.status[0][0] == OffsetStatus::offset);
  CHECK(left.offset[0][0] == -1);
  CHECK(left.weight[0][0] > left.threshold[0][0]);
  const MeasuredOffsets self = measured_offsets(summed({traces_of(own, document_of(length), 10)}));
  CHECK(self.status[0][0] == OffsetStatus::own_token);
  CHECK(std::isnan(self.offset[0][0]));
  const MeasuredOffsets cross = measured_offsets(summed({traces_of(own, document_of(length), 10)}), {.cross = true});
  CHECK(cross.status[0][0] == OffsetStatus::offset);
  CHECK(cross.offset[0][0] == 0);
}

TEST_CASE("a head whose attention rises to the end of the search has no measured offset, a wider search finds it") {
  const Index length = 60;
  Matrix32 far = Matrix32::Constant(length, length, 0.004F);
  for (Index i = 0; i < length; ++i)
    for (Index j = 0; j < length; ++j) far(i, j) += 0.3F * std::exp(-0.1F * std::abs(static_cast<float>(j - i + 12)));
  const auto measured = [&](Index reach) {
    return measured_offsets(summed({traces_of(far, document_of(length), reach)}));
  };
  for (const Index reach : {4, 8, 12}) {
    CAPTURE(reach);
    const MeasuredOffsets cut = measured(reach);
    CHECK(cut.status[0][0] == OffsetStatus::edge);
    CHECK(std::isnan(cut.offset[0][0]));
    CHECK(cut.weight[0][0] > cut.threshold[0][0]);
    CHECK(describe(cut)[1].flag_meanings.at(3) == "edge");
  }
  CHECK(measured(13).status[0][0] == OffsetStatus::offset);
  CHECK(measured(13).offset[0][0] == -12);
  CHECK(measured(20).offset[0][0] == -12);
}

TEST_CASE("the chance beside a weight is what shuffled queries give at that offset") {
  const Index length = 30;
  Matrix32 before = Matrix32::Constant(length, length, 0.01F);
  for (Index i = 0; i < length; ++i) before(i, std::max<Index>(0, i - 1)) = 0.71F;
  const OffsetTraces traces = summed({traces_of(before, document_of(length), 10)});
  const MeasuredOffsets measured = measured_offsets(traces);
  CHECK(measured.chance[0][0] == traces.null_weight[0](0, 9));
  CHECK(measured.chance[0][0] == Approx(1.0 / 30).epsilon(0.1));  // rows add up to 1, so a key has 1/30 on average
}

TEST_CASE("documents too short for a null give no offset") {
  for (const Index length : {1, 2}) {
    const Matrix32 a = Matrix32::Constant(length, length, 1.0F / static_cast<float>(length));
    const OffsetTraces traces = summed({traces_of(a, document_of(length), 4)});
    CHECK(std::isnan(traces.null_weight[0](0, 4)));
    CHECK(measured_offsets(traces).status[0][0] == OffsetStatus::flat);
  }
}

TEST_CASE("documents of different lengths are averaged where they have pairs") {
  Matrix32 small = Matrix32::Constant(3, 3, 1.0F / 3), large = Matrix32::Constant(5, 5, 0.2F);
  const OffsetTraces traces =
      summed({traces_of(small, document_of(3), 4, AttentionKind::self, 5), traces_of(large, document_of(5), 4)});
  CHECK(traces.weight[0](0, 4) == Approx((1.0 / 3 + 0.2) / 2));
  CHECK(traces.weight[0](0, 0) == Approx(0.2));
  CHECK(traces.count[0][4] == 4);
}

TEST_CASE("where a document has no pairs there is no number, and the reason is given") {
  const Document three = document_of(3), five = document_of(5);
  const Matrix32 small = Matrix32::Constant(3, 3, 1.0F / 3), large = Matrix32::Constant(5, 5, 0.2F);
  const OffsetTraces traces = summed({traces_of(small, three, 6, AttentionKind::self, 5), traces_of(large, five, 6)});
  // Columns are t = -6 .. 6; a document of T tokens has pairs at |t| < T.
  for (Index t = -6; t <= 6; ++t) {
    CAPTURE(t);
    CHECK(std::isnan(traces.by_document(0, t + 6)) == (std::abs(t) >= 3));
    CHECK(std::isnan(traces.by_document(1, t + 6)) == (std::abs(t) >= 5));
    for (const PairsMatrices* null : {&traces.null_weight, &traces.null_deviation, &traces.null_skewness})
      CHECK(std::isnan((*null)[0](0, t + 6)) == (std::abs(t) >= 5));
  }
  for (const Field& field : describe(traces)) {
    const auto* values = std::get_if<std::vector<double>>(&field.values);
    if (values == nullptr || !std::any_of(values->begin(), values->end(), [](double x) { return std::isnan(x); }))
      continue;
    CAPTURE(field.name);
    CHECK(field.attributes.contains("undefined"));
  }
  const OffsetTraces causal = summed({traces_of(uneven_weights(5, true, 1), five, 3, AttentionKind::causal)});
  CHECK(std::isnan(causal.by_document(0, 4)));
  CHECK(std::isnan(causal.null_skewness[0](0, 4)));
  CHECK_FALSE(std::isnan(causal.by_document(0, 3)));
}

TEST_CASE("documents of different lengths cluster by what their heads do, not by how long they are") {
  const HeadGrid two_heads{{0}, 2};
  const auto traces_of_shifts = [&](const std::vector<Index>& lengths, Index longest) {
    OffsetTraceSum sum;
    for (const Index length : lengths) {
      // Head 0 looks at the token before, head 1 at the one after; the ends look at themselves.
      Matrix32 before = Matrix32::Zero(length, length), after = before;
      for (Index i = 0; i < length; ++i) {
        before(i, std::max<Index>(0, i - 1)) = 1;
        after(i, std::min(length - 1, i + 1)) = 1;
      }
      const Document document = document_of(length);
      OffsetTraceProbe probe(two_heads, document, 4, AttentionKind::self, longest);
      Tile tile;
      tile.queries = tile.keys = length;
      tile.weights = {before, after};
      probe.see(tile);
      add_to(sum, probe.taken());
    }
    return offset_traces(sum, two_heads);
  };
  HeadClusterOptions options;
  options.clusters = 2;
  options.sweep_last = 2;
  const OffsetTraces traces = traces_of_shifts({8, 80, 2}, 80);
  const ComparableTraces vectors = comparable_traces(traces, 3);
  // By hand: of 8 queries 7 look at t = -1 and one at itself; of 2 one each, and there are no pairs at t = 2.
  CHECK(Vector(vectors.values.row(0).transpose()).isApprox(Vector{{0, 0, 0.875, 0.125, 0, 0, 0}}));
  CHECK(Vector(vectors.values.row(5).transpose()).isApprox(Vector{{0, 0, 0, 0.5, 0.5, 0, 0}}));
  CHECK_THAT(vectors.normalisation, ContainsSubstring("by length"));
  const auto labels_of = [&](const HeadVectors& of) {
    return std::get<std::vector<std::int64_t>>(field_of(head_clusters(of, options), "head_cluster/label").values);
  };
  CHECK(labels_of({vectors.values, {0}, 2}) == std::vector<std::int64_t>{0, 1, 0, 1, 0, 1});
  // The sums themselves do put the long document apart.
  const Matrix sums = traces.by_document.middleCols(3, 3).topRows(4);
  CHECK(labels_of({sums, {0}, 2}) != std::vector<std::int64_t>{0, 1, 0, 1});
  // At one length they are left as published.
  const OffsetTraces equal = traces_of_shifts({8, 8}, 8);
  CHECK(comparable_traces(equal, 3).values == equal.by_document.middleCols(1, 7));
  CHECK_THAT(comparable_traces(equal, 3).normalisation, ContainsSubstring("none"));
}

TEST_CASE("traces refuse what was not announced, and numbers that are none") {
  OffsetTraceProbe probe(one_head, document_of(4), 2);
  CHECK_THROWS_WITH(show(probe, Matrix32::Zero(5, 5), AttentionKind::self),
                    ContainsSubstring("offset traces: found a tile of 1 heads over 5 x 5 positions, expected 1"));
  CHECK_THROWS_WITH((HeadGrid{{0, 2}, 1}.first_row(1)),
                    ContainsSubstring("layer 1 is not among the 2 layers of the analysis (counted from 0)"));
  Matrix32 bad = Matrix32::Constant(4, 4, std::nanf(""));
  CHECK_THROWS_WITH(summed({traces_of(bad, document_of(4), 2)}),
                    ContainsSubstring("offset traces: an attention weight is not finite"));
}
