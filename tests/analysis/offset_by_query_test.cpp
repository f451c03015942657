#include "../../analysis/predictions/offset_by_query.h"

#include <cmath>

#include "../catch.h"
#include "planted_aliases.h"

using namespace headwave;

namespace {

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
}

TEST_CASE("where no query has a far key the share is undefined") {
  const PlantedModel planted = planted_model(alias_heads());
  const auto near = planted_documents(planted, 6, 60, 1);
  const OffsetByQuery within = found_by_query(planted, *near);
  CHECK(within.beyond_all.share.array().isNaN().all());
  for (const ShareInterval& beyond : within.beyond) CHECK(beyond.share.array().isNaN().all());
  for (const Field& field : describe(within)) CHECK_NOTHROW(field.check_shape());
}

TEST_CASE("no digit depends on threads") {
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
}

TEST_CASE("no documents, other heads and weights that are no numbers are refused") {
  const HeadGrid grid{{0}, 1};
  const QueryBands bands(16, 2, false);
  CHECK_THROWS_AS(offset_by_query(grid, bands, {}), ShapeError);
  const OffsetByQuerySums sums(BandTraces(2, bands));
  CHECK_THROWS_AS(offset_by_query(grid, bands, sums), ShapeError);
  BandTraces traces(1, bands);
  traces.weight(0, 3) = std::nan("");
  const OffsetByQuerySums wrong(traces);
  CHECK_THROWS_AS(offset_by_query(grid, bands, wrong), NumericError);
}
