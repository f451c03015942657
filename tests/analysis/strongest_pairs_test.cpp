#include "../../analysis/attention/strongest_pairs.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "../../core/numbers/random.h"
#include "../catch.h"
#include "found_field.h"
#include "test_pass.h"

using namespace headwave;

namespace {

/// Tokens t0, t1, ...; the first and the last are special.
Document lettered_document(Index length, const std::string& letter) {
  Document document;
  document.name = letter;
  for (Index i = 0; i < length; ++i) {
    document.ids.push_back(static_cast<std::int32_t>(i));
    document.tokens.push_back(letter + std::to_string(i));
  }
  document.special.assign(static_cast<std::size_t>(length), 0);
  document.special.front() = document.special.back() = 1;
  return document;
}

/// Weights of few distinct values, so that many are equal; rows need not sum to 1.
Matrix32 coarse_weights(Index length, std::uint64_t seed) {
  Matrix32 weights(length, length);
  Random random(seed);
  for (Index i = 0; i < length; ++i)
    for (Index j = 0; j < length; ++j)
      weights(i, j) = static_cast<float>(std::floor(40 * std::abs(random.normal())) / 200);
  return weights;
}

/// Of layer 0, shown in tiles of so many rows.
StrongestPairs pairs_of(const std::vector<Matrix32>& heads, const Document& document, Index number, Index tile_rows,
                        AttentionKind kind = AttentionKind::self) {
  StrongestPairProbe probe({{0}, std::ssize(heads)}, document, number, kind);
  show_heads(probe, heads, kind, tile_rows);
  return probe.taken();
}

using Pair = std::tuple<double, Index, Index, Index>;  // weight, document, query, key

std::vector<Pair> listed(const std::vector<TokenPair>& pairs) {
  std::vector<Pair> list;
  for (const TokenPair& pair : pairs) list.emplace_back(pair.weight, pair.document, pair.query, pair.key);
  return list;
}

/// All pairs that count, sorted.
std::vector<Pair> sorted_pairs(const std::vector<Matrix32>& documents, bool causal) {
  std::vector<Pair> all;
  for (Index d = 0; d < std::ssize(documents); ++d) {
    const Matrix32& weights = documents[static_cast<std::size_t>(d)];
    for (Index i = 1; i + 1 < weights.rows(); ++i)
      for (Index j = 1; j + 1 < weights.cols(); ++j)
        if (weights(i, j) > 0 && (!causal || j <= i)) all.emplace_back(weights(i, j), d, i, j);
  }
  std::ranges::stable_sort(all, [](const Pair& a, const Pair& b) { return std::get<0>(a) > std::get<0>(b); });
  if (std::ssize(all) > strongest_pairs_kept) all.resize(strongest_pairs_kept);
  return all;
}

}  // namespace

TEST_CASE("strongest pairs: by hand, without special tokens and weights of 0, with the tokens around both") {
  Matrix32 weights(5, 5);
  weights << 0.9F, 0.1F, 0, 0, 0,  //
      0.8F, 0, 0.2F, 0, 0,         //
      0.1F, 0.6F, 0, 0.3F, 0,      //
      0, 0, 0.1F, 0.2F, 0.7F,      //
      0, 0, 0, 0, 1;
  const StrongestPairs pairs = pairs_of({weights}, lettered_document(5, "t"), 4, 2);
  const std::vector<Pair> want{{0.6F, 4, 2, 1}, {0.3F, 4, 2, 3}, {0.2F, 4, 1, 2}, {0.2F, 4, 3, 3}, {0.1F, 4, 3, 2}};
  CHECK(listed(pairs.of_head[0]) == want);
  CHECK(pairs.of_head[0][0].query_token == TokenPair::Around{"", "t0", "t1", "t2", "t3", "t4", ""});
  CHECK(pairs.of_head[0][0].key_token == TokenPair::Around{"", "", "t0", "t1", "t2", "t3", "t4"});
}

TEST_CASE("strongest pairs: those of several documents, however tiles and blocks divide them") {
  for (const AttentionKind kind : {AttentionKind::self, AttentionKind::causal})
    for (const Index rows : {1, 4, 31}) {
      std::vector<Matrix32> first, second;
      StrongestPairs one_by_one, blocks, late;
      for (Index d = 0; d < 5; ++d) {
        first.push_back(coarse_weights(31, static_cast<std::uint64_t>(2 * d)));
        second.push_back(coarse_weights(31, static_cast<std::uint64_t>(2 * d + 1)));
        const Document document = lettered_document(31, "d" + std::to_string(d) + "t");
        const auto seen = [&] { return pairs_of({first.back(), second.back()}, document, d, rows, kind); };
        one_by_one.add(seen());
        (d < 2 ? blocks : late).add(seen());
      }
      blocks.add(std::move(late));
      INFO(name_of(kind) << ", " << rows << " rows at a time");
      for (const StrongestPairs& found : {one_by_one, blocks}) {
        REQUIRE(found.of_head.size() == 2);
        CHECK(listed(found.of_head[0]) == sorted_pairs(first, kind == AttentionKind::causal));
        CHECK(listed(found.of_head[1]) == sorted_pairs(second, kind == AttentionKind::causal));
      }
      const TokenPair& pair = one_by_one.of_head[0][0];
      CHECK(pair.query_token[tokens_around] == "d" + std::to_string(pair.document) + "t" + std::to_string(pair.query));
    }
}

TEST_CASE("strongest pairs: fields say where there are fewer, and have the middle token at 0") {
  Matrix32 weights = Matrix32::Zero(4, 4);
  weights(2, 1) = 0.5F;
  const HeadGrid grid{{0}, 2};
  const std::vector<Field> fields =
      describe(pairs_of({weights, Matrix32::Zero(4, 4)}, lettered_document(4, "t"), 0, 4), grid);
  const std::vector<double>& weight = field_of(fields, "strongest_pairs/weight").doubles();
  REQUIRE(weight.size() == 2 * strongest_pairs_kept);
  CHECK(weight[0] == 0.5);
  CHECK(std::isnan(weight[1]));
  CHECK(std::isnan(weight[strongest_pairs_kept]));
  CHECK(std::get<std::vector<std::int64_t>>(field_of(fields, "strongest_pairs/key").values)[0] == 1);
  CHECK(std::get<std::vector<std::int64_t>>(field_of(fields, "strongest_pairs/key").values)[1] == -1);
  const Field& token = field_of(fields, "strongest_pairs/key_token");
  CHECK(std::get<std::vector<std::int64_t>>(token.axis("around").values)[tokens_around] == 0);
  CHECK(std::get<std::vector<std::string>>(token.values)[tokens_around] == "t1");
  CHECK(describe(StrongestPairs{}, grid).size() == fields.size());
}
