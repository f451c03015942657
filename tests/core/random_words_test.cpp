#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "../../core/model/random_documents.h"
#include "../catch.h"

using namespace headwave;

namespace {

std::vector<std::int32_t> ids_from(std::int32_t first, std::size_t count) {
  std::vector<std::int32_t> ids(count);
  std::iota(ids.begin(), ids.end(), first);
  return ids;
}

/// Equally likely words.
WordChances even_words(std::vector<std::int32_t> ids) {
  const auto count = std::ssize(ids);
  return {std::move(ids), Vector::Ones(count)};
}

}  // namespace

TEST_CASE("random words: seeded, each document its own, between the tokens that stand around a document") {
  RandomWordsOptions options;
  options.documents = 3;
  options.length = 40;
  options.opens = 2;
  options.closes = 3;
  const auto source = random_words(even_words(ids_from(10, 20)), options);
  CHECK(source->count() == 3);
  CHECK(source->length(1) == 40);
  const Document first = source->document(0);
  REQUIRE(first.length() == 40);
  CHECK(first.ids.front() == 2);
  CHECK(first.ids.back() == 3);
  for (Index i = 0; i < 40; ++i) CHECK(first.is_special(i) == (i == 0 || i == 39));
  for (std::size_t i = 1; i < 39; ++i) CHECK((first.ids[i] >= 10 && first.ids[i] < 30));
  CHECK(first.target.ids.empty());
  CHECK(first.ids == source->document(0).ids);
  CHECK(first.ids != source->document(1).ids);
  CHECK(first.ids == random_words(even_words(ids_from(10, 20)), options)->document(0).ids);
  options.seed = 2;
  CHECK(first.ids != random_words(even_words(ids_from(10, 20)), options)->document(0).ids);
  CHECK(std::get<std::string>(source->provenance().at("source")) == "random words");
}

TEST_CASE("random words: without tokens around them every place is drawn, for a decoder in both sequences") {
  RandomWordsOptions options;
  options.documents = 1;
  options.length = 30;
  const Document document =
      random_words(even_words(ids_from(0, 5)), options, even_words(ids_from(100, 5)))->document(0);
  for (const std::int32_t id : document.ids) CHECK(id < 5);
  REQUIRE(document.target.ids.size() == 30);
  for (const std::int32_t id : document.target.ids) CHECK(id >= 100);
  for (Index i = 0; i < 30; ++i) CHECK_FALSE(document.is_special(i));
}

TEST_CASE("random words: words come as often as their chances say, those without one never") {
  const WordChances ranked = ranked_words(ids_from(7, 4));
  CHECK(ranked.chance == (Vector(4) << 1, 1.0 / 2, 1.0 / 3, 1.0 / 4).finished());
  WordChances words{ids_from(0, 6), (Vector(6) << 0, 1, 0.5, 0, 1.0 / 3, 0).finished()};
  RandomWordsOptions options;
  options.documents = 20;
  options.length = 1000;
  const auto source = random_words(words, options);
  std::map<std::int32_t, double> counts;
  for (Index d = 0; d < 20; ++d)
    for (const std::int32_t id : source->document(d).ids) ++counts[id];
  const double drawn = 20000, sum = words.chance.sum();
  CHECK(counts.size() == 3);
  for (Index w = 0; w < 6; ++w) {
    const double p = words.chance[w] / sum;
    CHECK(std::abs(counts[static_cast<std::int32_t>(w)] - drawn * p) <= 5 * std::sqrt(drawn * p * (1 - p)));
  }
}

TEST_CASE("random words: what cannot be drawn from is refused, naming what came") {
  RandomWordsOptions options;
  CHECK_THROWS_WITH(random_words({}, options),
                    ContainsSubstring("random_words: expected at least 1 document, 1 word to draw and 1 tokens"));
  options.opens = 0;
  options.closes = 0;
  options.length = 2;
  CHECK_THROWS_WITH(random_words(even_words({1}), options), ContainsSubstring("3 tokens per document, found"));
  options.length = 3;
  CHECK(random_words(even_words({1}), options)->document(0).ids == std::vector<std::int32_t>{0, 1, 0});
  options.documents = 0;
  CHECK_THROWS_WITH(random_words(even_words({1}), options),
                    ContainsSubstring("random_words: expected at least 1 document, 1 word to draw and 3 tokens"));
}
