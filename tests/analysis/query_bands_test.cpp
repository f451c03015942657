#include "../../analysis/attention/query_bands.h"

#include <cmath>

#include "../../core/attention/attend.h"
#include "../../core/numbers/random.h"
#include "../catch.h"
#include "test_pass.h"

using namespace headwave;

namespace {

/// Keeps the weights of a head.
class Kept : public Probe {
 public:
  explicit Kept(Index length) : weights(Matrix::Zero(length, length)) {}
  using Probe::see;
  void see(const Tile& tile) override {
    weights.middleRows(tile.first_row, tile.rows()) = tile.weights.front().cast<double>();
  }
  Matrix weights;
};

Matrix32 normal_rows(Index rows, Index columns, double deviation, Random& random) {
  Matrix32 made(rows, columns);
  for (float& entry : made.reshaped<Eigen::RowMajor>()) entry = static_cast<float>(deviation * random.normal());
  return made;
}

/// Random queries and keys, attended while those probes look on.
void attend_random(Index length, AttentionKind kind, Index window, Random random, std::vector<Probe*> probes) {
  const Matrix32 query = normal_rows(length, 6, 1.0, random), key = normal_rows(length, 6, 1.0, random);
  const Mask<float> mask{kind == AttentionKind::causal, -1, -1, {}, window};
  attend<float>({query, key, {}, 1, 1, 1.0, nullptr}, mask, {0, kind, nullptr}, probes);
}

}  // namespace

TEST_CASE("bands are the narrowest powers of two that are few enough, and know the offsets of their keys") {
  const QueryBands bands(10, 4, false);
  CHECK(bands.width() == 4);
  REQUIRE(bands.count() == 3);
  CHECK(bands.end(2) == 10);
  CHECK(bands.lowest(1) == -7);
  CHECK(bands.highest(1) == 5);
  CHECK(bands.columns() == 13 + 13 + 11);
  CHECK(bands.column(1, -7) == 13);
  CHECK(QueryBands(512, 8, false).width() == 64);
  CHECK(QueryBands(513, 8, false).count() == 5);
  CHECK(QueryBands(1, 8, true).count() == 1);
  CHECK(QueryBands(10, 4, true).columns() == 4 + 8 + 10);
  CHECK(bands.pairs(1, 3, 10, 0) == 3);  // queries 4, 5, 6
  CHECK(bands.pairs(1, 3, 8, 0) == 1);   // of a shorter document query 4 alone
  CHECK(bands.pairs(2, 0, 8, 0) == 0);
  CHECK(QueryBands(10, 4, true).pairs(1, -3, 10, 3) == 0);  // masked by the window
  CHECK_THROWS_AS(QueryBands(0, 4, false), ShapeError);
  CHECK_THROWS_AS(QueryBands(4, 0, false), ShapeError);
}

TEST_CASE("offsets stand by themselves up to the reach, and beyond in four bins a doubling that leave none out") {
  const auto bins = offset_bins(40, 7, false);
  CHECK(bins.front().first == -39);
  CHECK(bins.back().last == 39);
  for (std::size_t b = 1; b < bins.size(); ++b) CHECK(bins[b].first == bins[b - 1].last + 1);
  const auto right = std::find_if(bins.begin(), bins.end(), [](const OffsetBin& bin) { return bin.first == 8; });
  CHECK(right[-1].first == right[-1].last);
  CHECK(right[0].last == 9);   // below 8 * 2^(1/4) = 9.51
  CHECK(right[1].last == 11);  // below 11.31
  CHECK(right[4].first == 16);
  CHECK(offset_bins(40, 7, true).back().last == 0);
  CHECK(offset_bins(5, 64, false).size() == 9);
  for (const auto& bin : offset_bins(300, 1, false)) CHECK(bin.first <= bin.last);
}

TEST_CASE("sums of bands are those of a naive loop, whatever the mask, in documents of any length") {
  const auto [kind, window] = GENERATE(std::pair<AttentionKind, Index>{AttentionKind::self, 0},
                                       std::pair<AttentionKind, Index>{AttentionKind::causal, 0},
                                       std::pair<AttentionKind, Index>{AttentionKind::causal, 21});
  const Index length = GENERATE(70, 93, 100), reach = 9;
  const bool causal = kind == AttentionKind::causal;
  const QueryBands bands(100, 4, causal);
  BandTraceProbe probe(one_head, bands, reach, kind, {0, 50, 69});
  Kept kept(length);
  attend_random(length, kind, window, Random(5), {&probe, &kept});
  const BandTraces traces = probe.taken();
  const Matrix& a = kept.weights;
  const auto seen = [&](Index i, Index j) { return !causal || (j <= i && (window == 0 || i - j < window)); };
  for (Index band = 0; band < bands.count(); ++band) {
    const Index end = std::min(bands.end(band), length);
    double beyond = 0, special = 0, uniform = 0;
    for (Index i = bands.first(band); i < end; ++i) {
      double keys = 0, far = 0;
      for (Index j = 0; j < length; ++j) {
        keys += seen(i, j) ? 1 : 0;
        if (std::abs(j - i) <= reach) continue;
        far += seen(i, j) ? 1 : 0;
        beyond += a(i, j);
        if (j == 0 || j == 50 || j == 69) special += a(i, j);
      }
      uniform += far / keys;
    }
    CHECK(traces.queries[band] == static_cast<double>(std::max<Index>(0, end - bands.first(band))));
    CHECK(traces.beyond(0, band) == Approx(beyond).margin(1e-12));
    CHECK(traces.special(0, band) == Approx(special).margin(1e-12));
    CHECK(traces.uniform[band] == Approx(uniform).margin(1e-12));
    for (Index t = bands.lowest(band); t <= bands.highest(band); ++t) {
      double weight = 0, pairs = 0;
      for (Index i = bands.first(band); i < end; ++i) {
        const Index j = i + t;
        if (j < 0 || j >= length || !seen(i, j)) continue;
        weight += a(i, j);
        pairs += 1;
      }
      const Index column = bands.column(band, t);
      CAPTURE(band, t);
      CHECK(traces.pairs[column] == pairs);
      CHECK(traces.weight(0, column) == Approx(weight).margin(1e-12));
    }
  }
}

TEST_CASE("a tile of other heads, of two sequences or of too long a document is refused, and another kind passes") {
  BandTraceProbe probe(one_head, QueryBands(16, 2, false), 4, AttentionKind::self);
  const Matrix32 weights = Matrix32::Constant(17, 17, 1.0F / 17);
  CHECK_THROWS_AS(show(probe, weights), ShapeError);
  show(probe, weights, AttentionKind::cross);
  Tile tile;
  tile.queries = 8;
  tile.keys = 9;
  tile.weights = {weights};
  CHECK_THROWS_AS(probe.see(tile), ShapeError);
  tile.keys = 8;
  tile.weights = {weights, weights};
  CHECK_THROWS_AS(probe.see(tile), ShapeError);
}
