#include "../../analysis/predictions/offset_by_query.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "../catch.h"
#include "planted_aliases.h"

using namespace headwave;

namespace {

std::set<Index> offsets_of(const std::vector<BandPeak>& peaks) {
  std::set<Index> offsets;
  for (const BandPeak& peak : peaks) offsets.insert(peak.offset);
  return offsets;
}

Index peaks_of(const OffsetByQuery& found, std::size_t row) {
  Index count = 0;
  for (const auto& band : found.peaks[row]) count += std::ssize(band);
  return count;
}

/// Documents of two lengths, the longer first.
class TwoLengths : public Source {
 public:
  TwoLengths(const PlantedModel& planted, Index each)
      : long_(planted_documents(planted, each, alias_length, 3)), short_(planted_documents(planted, each, 120, 4)) {}
  [[nodiscard]] Index count() const override { return 2 * long_->count(); }
  [[nodiscard]] Index length(Index i) const override { return i % 2 == 0 ? alias_length : 120; }
  [[nodiscard]] Document document(Index i) const override { return (i % 2 == 0 ? long_ : short_)->document(i / 2); }
  [[nodiscard]] Attributes provenance() const override { return {}; }

 private:
  std::unique_ptr<Source> long_, short_;
};

}  // namespace

TEST_CASE("a planted alias of the wave is found in every band that has keys there, and comes from positions") {
  const std::uint64_t seed = GENERATE(1, 2, 3);
  const PlantedModel planted = planted_model(alias_heads(seed));
  const OffsetByQuery found = found_by_query(planted, *planted_documents(planted, 6, alias_length, seed + 10));
  REQUIRE(found.bands.count() == 8);
  // -1 plus or minus whole periods, wherever half a band or more has such a key.
  for (Index band = 0; band < 8; ++band) {
    const auto& peaks = found.peaks[0][static_cast<std::size_t>(band)];
    std::set<Index> expected;
    for (const Index t : {-181, -91, 89, 179})
      if (found.bands.pairs(band, t, alias_length, 0) >= found.bands.width() / 2) expected.insert(t);
    const std::set<Index> offsets = offsets_of(peaks);
    CAPTURE(band);
    CHECK(std::includes(offsets.begin(), offsets.end(), expected.begin(), expected.end()));
    for (const BandPeak& peak : peaks)
      if (std::abs((peak.offset + 1) % alias_period) == 0) CHECK(peak.weight > 4 * peak.chance);
    for (const PeakSource source : found.source[0][static_cast<std::size_t>(band)])
      CHECK(source == PeakSource::position);
  }
  CHECK(peaks_of(found, 1) == 0);
  CHECK(peaks_of(found, 2) == 0);
}

TEST_CASE("a head that finds equal words a hundred tokens on looks far, and not by position") {
  const std::uint64_t seed = GENERATE(1, 2, 3);
  const PlantedModel planted = planted_model(alias_heads(seed));
  const OffsetByQuery found = found_by_query(planted, *repeated_words(8, seed));
  Index far = 0;
  for (std::size_t band = 0; band < found.peaks[1].size(); ++band)
    for (std::size_t k = 0; k < found.peaks[1][band].size(); ++k) {
      ++far;
      CHECK(std::abs(found.peaks[1][band][k].offset) == 100);
      CHECK(found.source[1][band][k] == PeakSource::other);
    }
  CHECK(far >= found.bands.count());
  CHECK(found.source[0][0].front() == PeakSource::position);
}

TEST_CASE("a planted head that never leaves the reach has no peak beyond it") {
  const std::uint64_t seed = GENERATE(1, 2, 3);
  const PlantedModel planted = planted_model(local_head(seed));
  const OffsetByQuery found = found_by_query(planted, *planted_documents(planted, 6, alias_length, seed));
  CHECK(peaks_of(found, 0) == 0);
  CHECK(found.beyond_all.share[0] < 0.01);
}

TEST_CASE(
    "the bank's waves nearly come round after 123 tokens: its sharp heads look there, those without waves nowhere") {
  const std::uint64_t seed = GENERATE(1, 2);
  const PlantedModel planted = planted_model(planted_bank(seed));
  const OffsetByQuery found = found_by_query(planted, *planted_documents(planted, 6, 512, seed));
  for (std::size_t row = 0; row < found.peaks.size(); ++row) {
    const PlantedHead& head = planted.spec.heads[row / 8][row % 8];
    CAPTURE(row);
    if (!head.positional()) CHECK(peaks_of(found, row) == 0);
    if (head.kind != PlantedKind::adjacent) continue;
    CHECK(peaks_of(found, row) >= 8);
    for (std::size_t band = 0; band < found.peaks[row].size(); ++band)
      for (std::size_t k = 0; k < found.peaks[row][band].size(); ++k) {
        CHECK(std::abs(static_cast<double>(found.peaks[row][band][k].offset) - head.offset) == 123);
        CHECK(found.source[row][band][k] == PeakSource::position);
      }
  }
}

TEST_CASE("profiles sum to one, and what lies beyond the reach is their far part") {
  const PlantedModel planted = planted_model(alias_heads());
  const OffsetByQuery found = found_by_query(planted, *planted_documents(planted, 3, alias_length, 1));
  double all = 0, beyond_all = 0;
  for (Index band = 0; band < found.bands.count(); ++band) {
    const auto b = static_cast<std::size_t>(band);
    for (Index row = 0; row < 3; ++row) {
      double sum = 0, far = 0;
      for (Index bin = 0; bin < found.profile[b].cols(); ++bin) {
        const double weight = found.profile[b](row, bin);
        CHECK(std::isnan(weight) == (found.keys(band, bin) == 0));
        if (std::isnan(weight)) continue;
        sum += weight;
        if (std::abs(found.bins[static_cast<std::size_t>(bin)].middle()) > 64) far += weight;
      }
      CHECK(sum == Approx(1).margin(1e-5));
      CHECK(found.beyond[b].share[row] == Approx(far).margin(1e-12));
      if (row == 0) beyond_all += far * found.queries[band];
    }
    all += found.queries[band];
    CHECK(std::isnan(found.beyond[b].lower[0]));  // three documents
  }
  CHECK(found.beyond_all.share[0] == Approx(beyond_all / all).margin(1e-12));
  CHECK(found.beyond_all.share[0] > 0.3);
}

TEST_CASE("documents of other lengths count where they have queries, and the longer bands rest on the longer ones") {
  const PlantedModel planted = planted_model(alias_heads());
  const OffsetByQuery found = found_by_query(planted, TwoLengths(planted, 5));
  CHECK(found.documents == std::vector<Index>{10, 10, 10, 10, 5, 5, 5, 5});
  CHECK(found.queries[3] == 5 * 32 + 5 * 24);
  CHECK(found.queries[4] == 5 * 32);
  for (const ShareInterval& beyond : found.beyond)
    for (Index row = 0; row < 3; ++row) {
      CHECK(beyond.lower[row] <= beyond.share[row]);
      CHECK(beyond.share[row] <= beyond.upper[row]);
    }
  CHECK(found.source[0][0].front() == PeakSource::position);
}

TEST_CASE("where no query has a far key the share is undefined, and of one document sources are unknown") {
  const PlantedModel planted = planted_model(alias_heads());
  const auto near = planted_documents(planted, 6, 60, 1), one = planted_documents(planted, 1, alias_length, 1);
  const OffsetByQuery within = found_by_query(planted, *near), single = found_by_query(planted, *one);
  CHECK(within.beyond_all.share.array().isNaN().all());
  for (const ShareInterval& beyond : within.beyond) CHECK(beyond.share.array().isNaN().all());
  for (std::size_t row = 0; row < 3; ++row) CHECK(peaks_of(within, row) == 0);
  REQUIRE_FALSE(single.source[0][0].empty());
  CHECK(single.source[0][0].front() == PeakSource::unknown);
  for (const Field& field : describe(within)) CHECK_NOTHROW(field.check_shape());
}

TEST_CASE("no digit depends on threads, and no peak on the seed") {
  const PlantedModel planted = planted_model(alias_heads());
  const auto documents = planted_documents(planted, 5, alias_length, 1);
  OffsetByQueryOptions options;
  const OffsetByQuery one = found_by_query(planted, *documents, options);
  options.threads = 3;
  const OffsetByQuery three = found_by_query(planted, *documents, options);
  options.seed = 9;
  const OffsetByQuery other = found_by_query(planted, *documents, options);
  CHECK(one.beyond_all.lower == three.beyond_all.lower);
  CHECK(one.beyond_all.lower != other.beyond_all.lower);
  for (std::size_t band = 0; band < 8; ++band) {
    CHECK(offsets_of(one.peaks[0][band]) == offsets_of(other.peaks[0][band]));
    CHECK(one.source[0][band] == other.source[0][band]);
  }
}

TEST_CASE("no documents, other heads and weights that are no numbers are refused") {
  const HeadGrid grid{{0}, 1};
  const QueryBands bands(16, 2, false);
  CHECK_THROWS_AS(offset_by_query(grid, bands, {}, nullptr), ShapeError);
  const OffsetByQuerySums sums(BandTraces(2, bands));
  CHECK_THROWS_AS(offset_by_query(grid, bands, sums, nullptr), ShapeError);
  BandTraces traces(1, bands);
  traces.weight(0, 3) = std::nan("");
  const OffsetByQuerySums wrong(traces);
  CHECK_THROWS_AS(offset_by_query(grid, bands, wrong, nullptr), NumericError);
}
