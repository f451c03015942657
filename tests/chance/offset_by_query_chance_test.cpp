// Whether peaks beyond the reach, what they are said to come from, and the intervals beside them err no more often than stated.

#include <cmath>

#include "../../analysis/predictions/offset_by_query.h"
#include "../../core/numbers/random.h"
#include "../analysis/drawn_documents.h"
#include "../analysis/test_pass.h"
#include "../catch.h"

using namespace headwave;

namespace {

Matrix32 normal_rows(Index rows, Index columns, double deviation, Random& random) {
  Matrix32 made(rows, columns);
  for (float& entry : made.reshaped<Eigen::RowMajor>()) entry = static_cast<float>(deviation * random.normal());
  return made;
}

/// Attention that knows no offsets: some keys draw everybody, some pairs belong together.
Matrix32 placeless(Index length, double pairs, Random& random) {
  Matrix scores = normal_rows(length, length, pairs, random).cast<double>();
  const Matrix keys = normal_rows(1, length, 1.0, random).cast<double>();
  for (Index i = 0; i < length; ++i) scores.row(i) += keys.row(0);
  Matrix weights = (scores.colwise() - scores.rowwise().maxCoeff()).array().exp();
  weights.array().colwise() /= weights.rowwise().sum().array();
  return weights.cast<float>();
}

BandTraces seen(const Matrix32& weights, const QueryBands& bands, Index reach) {
  BandTraceProbe probe(one_head, bands, reach, AttentionKind::self);
  Tile tile;
  tile.queries = tile.keys = weights.rows();
  tile.weights = {weights};
  probe.see(tile);
  return probe.taken();
}

AccountHalves halves_of(Index length, double deviation, Random& random) {
  static const Stack stack = drawn_stack(8, false);
  AccountHalves halves;
  halves.site = {one_head, AttentionKind::self, length, 64, &stack};
  for (AccountHalf& half : halves.halves) {
    half.documents = 1;
    half.layers.emplace_back();
    half.layers[0].query = normal_rows(length, 8, deviation, random);
    half.layers[0].key = normal_rows(length, 8, 1.0, random);
  }
  return halves;
}

}  // namespace

TEST_CASE("of heads that know no offsets at most the stated share has a peak, few documents or many", "[chance]") {
  const QueryBands bands(128, 8, false);
  for (const double pairs : {0.5, 2.0, 4.0})  // from weights that are much alike to one key for each query
    for (const Index documents : {1, 8}) {
      Index with = 0;
      constexpr Index heads = 200;
      for (Index head = 0; head < heads; ++head) {
        Random random = Random(3).stream(static_cast<std::uint64_t>(head));
        BandTraces sum(1, bands);
        for (Index d = 0; d < documents; ++d) sum.add(seen(placeless(128, pairs, random), bands, 16));
        for (const auto& band : band_peaks(sum, bands, 0, {.reach = 16, .level = 0.05, .least_excess = 0}))
          if (!band.empty()) {
            ++with;
            break;
          }
      }
      WARN("pairs " << pairs << ", " << documents << " documents: a peak in " << with << " of " << heads);
      CHECK(with <= 19);  // 5 %, and three standard errors
    }
}

TEST_CASE("a peak that positions have no part in is rarely said to be theirs, however loud they are", "[chance]") {
  const Index length = 128;
  const QueryBands bands(length, 8, false);
  for (const double deviation : {0.3, 1.0, 2.0}) {
    Index peaks = 0, by_position = 0;
    for (Index head = 0; head < 150; ++head) {
      Random random = Random(5).stream(static_cast<std::uint64_t>(head));
      OffsetByQuerySums sums;
      for (Index d = 0; d < 8; ++d) {
        Matrix32 weights = placeless(length, 1.0, random);
        const Index t = 30 + 3 * (head % 20);
        for (Index i = 0; i + t < length; ++i) {
          weights.row(i) *= 0.9F;
          weights(i, i + t) += 0.1F;
        }
        add_to(sums, OffsetByQuerySums(seen(weights, bands, 16)));
      }
      const AccountHalves halves = halves_of(length, deviation, random);
      OffsetByQueryOptions options;
      options.peaks.reach = 16;
      options.resamples = 0;
      const OffsetByQuery found = offset_by_query(one_head, bands, sums, &halves, options);
      for (const auto& band : found.source[0])
        for (const PeakSource source : band) {
          ++peaks;
          by_position += source == PeakSource::position ? 1 : 0;
        }
    }
    WARN("positions of " << deviation << ": " << by_position << " of " << peaks << " peaks");
    REQUIRE(peaks > 400);
    CHECK(static_cast<double>(by_position) <= 0.02 * static_cast<double>(peaks));
  }
}

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
    options.peaks.reach = 8;
    const ShareInterval beyond = offset_by_query(one_head, bands, sums, nullptr, options).beyond.front();
    covered += beyond.lower[0] <= truth && truth <= beyond.upper[0] ? 1 : 0;
  }
  WARN("covered " << covered << " of " << repeats);
  CHECK(covered >= 164);  // 90 %, less what a skew share and twelve documents cost
}
