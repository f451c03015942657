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

constexpr Index pairs_kept = 10;

using Pair = std::tuple<double, Index, Index, Index>;  // weight, document, query, key

/// The pairs of a head.
std::vector<Pair> pairs_of(const std::vector<Field>& fields, std::size_t head) {
  const auto whole = [&](const char* quantity) {
    return std::get<std::vector<std::int64_t>>(field_of(fields, std::string("strongest_pairs/") + quantity).values);
  };
  std::vector<Pair> list;
  for (std::size_t i = head * pairs_kept; i < (head + 1) * pairs_kept; ++i)
    if (whole("query")[i] >= 0)
      list.emplace_back(field_of(fields, "strongest_pairs/weight").doubles()[i], whole("document")[i],
                        whole("query")[i], whole("key")[i]);
  return list;
}

/// The texts around the query, or the key, of the first pair of the first head.
std::vector<std::string> texts_of(const std::vector<Field>& fields, const char* quantity) {
  const auto& texts =
      std::get<std::vector<std::string>>(field_of(fields, std::string("strongest_pairs/") + quantity).values);
  return {texts.begin(), texts.begin() + 7};
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
  if (std::ssize(all) > pairs_kept) all.resize(pairs_kept);
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
  const std::vector<Field> fields = TestPass{}.fields(
      "strongest_pairs", {shown_weights({weights}, lettered_document(5, "t"), AttentionKind::self, 2)});
  const std::vector<Pair> want{{0.6F, 0, 2, 1}, {0.3F, 0, 2, 3}, {0.2F, 0, 1, 2}, {0.2F, 0, 3, 3}, {0.1F, 0, 3, 2}};
  CHECK(pairs_of(fields, 0) == want);
  CHECK(texts_of(fields, "query_token") == std::vector<std::string>{"", "t0", "t1", "t2", "t3", "t4", ""});
  CHECK(texts_of(fields, "key_token") == std::vector<std::string>{"", "", "t0", "t1", "t2", "t3", "t4"});
  CHECK(std::isnan(field_of(fields, "strongest_pairs/weight").doubles()[5]));  // there are five
}

TEST_CASE("strongest pairs: those of several documents, however tiles divide them") {
  for (const AttentionKind kind : {AttentionKind::self, AttentionKind::causal})
    for (const Index rows : {1, 4, 31}) {
      std::vector<Matrix32> first, second;
      std::vector<ShownDocument> documents;
      for (Index d = 0; d < 5; ++d) {
        first.push_back(coarse_weights(31, static_cast<std::uint64_t>(2 * d)));
        second.push_back(coarse_weights(31, static_cast<std::uint64_t>(2 * d + 1)));
        documents.push_back(shown_weights({first.back(), second.back()},
                                          lettered_document(31, "d" + std::to_string(d) + "t"), kind, rows));
      }
      const std::vector<Field> fields = TestPass{.grid = {{0}, 2}, .kind = kind}.fields("strongest_pairs", documents);
      INFO(name_of(kind) << ", " << rows << " rows at a time");
      CHECK(pairs_of(fields, 0) == sorted_pairs(first, kind == AttentionKind::causal));
      CHECK(pairs_of(fields, 1) == sorted_pairs(second, kind == AttentionKind::causal));
      const auto [weight, document, query, key] = pairs_of(fields, 0).front();
      CHECK(texts_of(fields, "query_token")[3] == "d" + std::to_string(document) + "t" + std::to_string(query));
    }
}
