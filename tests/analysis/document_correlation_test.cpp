#include "../../analysis/attention/document_correlation.h"

#include <cmath>
#include <set>

#include "../catch.h"
#include "../test_numbers.h"
#include "test_pass.h"

using namespace headwave;

namespace {

Matrix32 deviations_of(const PlacePairs& pairs, const Matrix32& weights, const Document& document,
                       AttentionKind kind = AttentionKind::self) {
  PlacePairWeights gathered(pairs, one_head, document, kind);
  Tile tile;
  tile.kind = kind;
  tile.queries = tile.keys = weights.rows();
  tile.weights = {weights};
  gathered.see(tile, 0);
  return gathered.deviations();
}

}  // namespace

TEST_CASE("pairs of places are the same every time, of two places, and some lie in any beginning") {
  for (const AttentionKind kind : {AttentionKind::self, AttentionKind::causal, AttentionKind::cross})
    for (const Index length : {4, 5, 40, 500}) {
      const PlacePairs pairs(length, kind), again(length, kind);
      CAPTURE(static_cast<int>(kind), length);
      REQUIRE(pairs.count() > 0);
      CHECK(pairs.count() <= PlacePairs::most);
      Index early = 0;
      for (Index i = 0; i < pairs.count(); ++i) {
        const auto [query, key] = pairs.pair(i);
        CHECK((query == again.pair(i).query && key == again.pair(i).key));
        CHECK((query != key && query > 0 && key > 0 && query < length && key < length));
        if (kind == AttentionKind::causal) CHECK(key < query);
        early += std::max(query, key) < length / 4 ? 1 : 0;
      }
      if (length > 30) CHECK(static_cast<double>(early) > 0.2 * static_cast<double>(pairs.count()));
      for (std::size_t g = 0; g + 1 < pairs.groups().size(); ++g) {
        std::set<Index> queries;
        for (Index i = pairs.groups()[g]; i < pairs.groups()[g + 1]; ++i) {
          CHECK(pairs.pair(i).key == pairs.pair(pairs.groups()[g]).key);
          CHECK(queries.insert(pairs.pair(i).query).second);
        }
        CHECK(queries.size() >= 2);
      }
    }
  CHECK(PlacePairs(3, AttentionKind::self).count() == 0);
  CHECK(PlacePairs(0, AttentionKind::causal).count() == 0);
}

TEST_CASE("deviations are what a query gives a key beyond what the key draws from the others of its group") {
  const Index length = 12;
  const PlacePairs pairs(length, AttentionKind::self);
  Matrix32 weights = random_matrix(length, length, 3).cwiseAbs().cast<float>();
  const Matrix32 found = deviations_of(pairs, weights, document_of(length));
  for (std::size_t g = 0; g + 1 < pairs.groups().size(); ++g) {
    const Index first = pairs.groups()[g], count = pairs.groups()[g + 1] - first;
    CHECK(std::abs(found.row(0).segment(first, count).sum()) < 1e-4);
  }
  CHECK(found.squaredNorm() / static_cast<float>(found.size()) == Approx(1).epsilon(1e-4));
  // A key that draws everybody, and more of all weights, change nothing.
  Matrix32 popular = 3 * weights;
  popular.col(5).array() += 0.5F;
  CHECK((deviations_of(pairs, popular, document_of(length)) - found).cwiseAbs().maxCoeff() < 1e-4F);
  // Special tokens and places beyond the document are left out.
  const Matrix32 part = deviations_of(pairs, weights.topLeftCorner(7, 7), document_of(7, {6}));
  for (Index i = 0; i < pairs.count(); ++i)
    if (std::max(pairs.pair(i).query, pairs.pair(i).key) >= 6) CHECK(std::isnan(part(0, i)));
  CHECK_FALSE(part.array().isNaN().all());
}

TEST_CASE("the correlation of documents is that of every two of them, whatever the blocks") {
  const Index length = 30, documents = 5;
  const PlacePairs pairs(length, AttentionKind::self);
  DocumentCorrelation all, first, second;
  const Matrix shared = random_matrix(length, length, 100);
  std::vector<Matrix32> found;
  for (Index d = 0; d < documents; ++d) {
    const Matrix weights = shared + 1.5 * random_matrix(length, length, static_cast<std::uint64_t>(d));
    found.push_back(deviations_of(pairs, weights.cast<float>(), document_of(length)));
    all.add({1, found.back()});
    (d < 2 ? first : second).add({1, found.back()});
  }
  double both = 0, count = 0;
  for (std::size_t d = 0; d < found.size(); ++d)
    for (std::size_t e = 0; e < found.size(); ++e)
      for (Index i = 0; d != e && i < pairs.count(); ++i) {
        both += static_cast<double>(found[d](0, i)) * static_cast<double>(found[e](0, i));
        count += 1;
      }
  CHECK(all.correlation()[0] == Approx(both / count).epsilon(1e-9));
  CHECK(all.correlation()[0] == Approx(1 / (1 + 1.5 * 1.5)).margin(0.1));
  first.add(std::move(second));
  CHECK(first.correlation()[0] == Approx(all.correlation()[0]).epsilon(1e-12));
  DocumentCorrelation one;
  one.add({1, found.front()});
  CHECK(std::isnan(one.correlation()[0]));
  one.add({1, found.front()});
  CHECK(one.correlation()[0] == Approx(1).epsilon(1e-5));
  DocumentCorrelation alone(1, found.front());
  CHECK(std::isnan(alone.correlation()[0]));
  alone.add({1, found.front()});
  CHECK(alone.correlation()[0] == one.correlation()[0]);
}

TEST_CASE("moments of independent documents add up, those of documents that agree are those of one") {
  CHECK(correlated_variance(0, 6, 4) == 6);
  CHECK(correlated_variance(1, 6, 4) == 16);
  CHECK(correlated_variance(0.25, 6, 4) == 8.5);
  CHECK(correlated_variance(not_defined, 6, 4) == 16);
  CHECK(correlated_third(0, 5, 2) == 5);
  CHECK(correlated_third(1, 5, 2) == 8);
  CHECK(correlated_third(not_defined, 5, -2) == -8);
  // Of four documents with v = 1 and w = 1 that share half: (0.5^1.5 4 + 0.5^1.5 4^3) / (2 0.5^1.5).
  CHECK(correlated_third(0.5, 4, 4) == Approx(34));
}
