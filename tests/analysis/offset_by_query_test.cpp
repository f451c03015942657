#include <cmath>

#include "../../analysis/attention/offset_trace.h"
#include "../../core/attention/attend.h"
#include "../../core/numbers/random.h"
#include "../catch.h"
#include "test_pass.h"

using namespace headwave;

namespace {

/// A head of random queries and keys, and its weights.
struct RandomHead {
  Matrix32 query, key;
  AttentionKind kind;
  Index window;

  RandomHead(Index length, AttentionKind of, Index masked, std::uint64_t seed)
      : query(length, 6), key(length, 6), kind(of), window(masked) {
    Random random(seed);
    for (Matrix32* side : {&query, &key})
      for (float& entry : side->reshaped<Eigen::RowMajor>()) entry = static_cast<float>(random.normal());
  }
  void show(Probe& probe) const {
    const Mask<float> mask{kind == AttentionKind::causal, {}, window};
    const std::vector<Probe*> probes{&probe};
    attend<float>({query, key, {}, 1, 1, 1.0, nullptr}, mask, {0, kind}, probes);
  }
  [[nodiscard]] ShownDocument shown(const std::vector<Index>& special) const {
    return {document_of(query.rows(), special), [head = *this](Probe& probe) { head.show(probe); }};
  }
  [[nodiscard]] Matrix weights() const {
    class Kept : public Probe {
     public:
      explicit Kept(Index length) : weights(Matrix::Zero(length, length)) {}
      using Probe::see;
      void see(const Tile& tile) override {
        weights.middleRows(tile.first_row, tile.rows()) = tile.weights.front().cast<double>();
      }
      Matrix weights;
    } kept(query.rows());
    show(kept);
    return kept.weights;
  }
};

std::vector<Field> bands_of(const std::vector<ShownDocument>& documents, AttentionKind kind = AttentionKind::self,
                            Index reach = 9, std::uint64_t seed = 1, int threads = 1) {
  TestPass pass{.kind = kind};
  pass.options.reach = reach;
  pass.options.seed = seed;
  pass.threads = threads;
  return pass.fields("offset_by_query", documents);
}

const std::vector<double>& band_numbers(const std::vector<Field>& fields, const std::string& quantity) {
  return field_of(fields, "offset_by_query/" + quantity).doubles();
}

std::vector<std::int64_t> band_wholes(const std::vector<Field>& fields, const std::string& quantity) {
  return std::get<std::vector<std::int64_t>>(field_of(fields, "offset_by_query/" + quantity).values);
}

}  // namespace

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
  const Index reach = 9;
  const bool causal = kind == AttentionKind::causal;
  std::vector<RandomHead> heads;
  std::vector<ShownDocument> documents;
  for (const Index length : {100, 70, 93}) {
    heads.emplace_back(length, kind, window, static_cast<std::uint64_t>(length));
    documents.push_back(heads.back().shown({50, 69}));
  }
  const std::vector<Field> fields = bands_of(documents, kind, reach);
  const auto first = band_wholes(fields, "bin_first"), last = band_wholes(fields, "bin_last"),
             band_last = band_wholes(fields, "band_last");
  REQUIRE(band_last.size() == 7);  // of 16 queries
  const auto seen = [&](Index i, Index j) { return !causal || (j <= i && (window == 0 || i - j < window)); };
  double all = 0, all_beyond = 0;
  for (std::size_t band = 0; band < band_last.size(); ++band) {
    std::vector<double> weight(first.size(), 0.0), pairs = weight;
    double queries = 0, beyond = 0, special = 0, uniform = 0, sum = 0;
    for (const RandomHead& head : heads) {
      const Matrix a = head.weights();
      for (Index i = static_cast<Index>(16 * band); i < std::min<Index>(a.rows(), band_last[band] + 1); ++i) {
        double keys = 0, far = 0;
        queries += 1;
        for (Index j = 0; j < a.cols(); ++j) {
          if (!seen(i, j)) continue;
          keys += 1;
          for (std::size_t bin = 0; bin < first.size(); ++bin)
            if (first[bin] <= j - i && j - i <= last[bin]) {
              weight[bin] += a(i, j);
              pairs[bin] += 1;
            }
          if (std::abs(j - i) <= reach) continue;
          far += 1;
          beyond += a(i, j);
          if (j == 0 || j == 50 || j == 69) special += a(i, j);
        }
        uniform += far / keys;
      }
    }
    CAPTURE(band);
    CHECK(band_numbers(fields, "queries")[band] == queries);
    CHECK(band_numbers(fields, "uniform_share")[band] == Approx(uniform / queries).margin(1e-12));
    const bool any = uniform > 0;
    CHECK(std::isnan(band_numbers(fields, "band_share")[band]) != any);
    if (any) CHECK(band_numbers(fields, "band_share")[band] == Approx(beyond / queries).margin(1e-12));
    if (any) CHECK(band_numbers(fields, "band_special")[band] == Approx(special / queries).margin(1e-12));
    CHECK(std::isnan(band_numbers(fields, "band_lower")[band]));  // three documents
    for (std::size_t bin = 0; bin < first.size(); ++bin) {
      const double found = band_numbers(fields, "profile")[band * first.size() + bin];
      CHECK(band_numbers(fields, "keys")[band * first.size() + bin] == Approx(pairs[bin] / queries).margin(1e-12));
      CHECK(std::isnan(found) == (pairs[bin] == 0));
      if (pairs[bin] == 0) continue;
      CHECK(found == Approx(weight[bin] / queries).margin(1e-12));
      sum += found;
    }
    CHECK(sum == Approx(1).margin(1e-5));
    all += queries;
    all_beyond += beyond;
  }
  CHECK(band_numbers(fields, "share_beyond")[0] == Approx(all_beyond / all).margin(1e-12));
}

TEST_CASE("documents of other lengths count where they have queries, and the longer bands rest on the longer ones") {
  std::vector<ShownDocument> documents;
  for (std::uint64_t d = 0; d < 5; ++d) {
    documents.push_back(RandomHead(256, AttentionKind::self, 0, 2 * d).shown({}));
    documents.push_back(RandomHead(120, AttentionKind::self, 0, 2 * d + 1).shown({}));
  }
  const std::vector<Field> fields = bands_of(documents);
  CHECK(band_wholes(fields, "documents_with_queries") == std::vector<std::int64_t>{10, 10, 10, 10, 5, 5, 5, 5});
  CHECK(band_numbers(fields, "queries")[3] == 5 * 32 + 5 * 24);
  CHECK(band_numbers(fields, "queries")[4] == 5 * 32);
  for (std::size_t band = 0; band < 8; ++band) {
    CHECK(band_numbers(fields, "band_lower")[band] <= band_numbers(fields, "band_share")[band]);
    CHECK(band_numbers(fields, "band_share")[band] <= band_numbers(fields, "band_upper")[band]);
  }
  // Intervals depend on the seed, and not on threads.
  CHECK(band_numbers(fields, "share_lower") ==
        band_numbers(bands_of(documents, AttentionKind::self, 9, 1, 3), "share_lower"));
  CHECK(band_numbers(fields, "share_lower") !=
        band_numbers(bands_of(documents, AttentionKind::self, 9, 9), "share_lower"));
}

TEST_CASE("where no query has a far key the share is undefined, and weights that are no numbers are refused") {
  const std::vector<Field> within =
      bands_of({RandomHead(60, AttentionKind::self, 0, 1).shown({})}, AttentionKind::self, 64);
  CHECK(std::isnan(band_numbers(within, "share_beyond")[0]));
  for (const double share : band_numbers(within, "band_share")) CHECK(std::isnan(share));
  const Matrix32 broken = Matrix32::Constant(4, 4, std::nanf(""));
  CHECK_THROWS_WITH(bands_of({shown_weights({broken}, document_of(4))}),
                    ContainsSubstring("offset_by_query: an attention weight is not finite"));
}

TEST_CASE("bands that no document reaches have no share: the other sequence of an encoder-decoder may be longer") {
  TestPass pass;
  pass.options.reach = 2;
  pass.longest = 64;
  const std::vector<Field> fields =
      pass.fields("offset_by_query", {RandomHead(30, AttentionKind::self, 0, 1).shown({})});
  CHECK(band_wholes(fields, "documents_with_queries") == std::vector<std::int64_t>{1, 1, 1, 1, 0, 0, 0, 0});
  for (std::size_t band = 0; band < 8; ++band)
    CHECK(std::isnan(band_numbers(fields, "band_share")[band]) == (band >= 4));
}
