#include "random_documents.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace headwave {

namespace {

/// Draws words from the cumulative sums of their chances.
class WordUrn {
 public:
  explicit WordUrn(WordChances words) : ids_(std::move(words.ids)) {
    double sum = 0;
    for (const double chance : words.chance) sums_.push_back(sum += chance);
  }

  [[nodiscard]] bool empty() const { return ids_.empty(); }

  [[nodiscard]] std::int32_t draw(Random& random) const {
    const auto place = std::upper_bound(sums_.begin(), sums_.end(), random.uniform() * sums_.back());
    // Rounding may lead past the end; then the last word with a chance above 0 is drawn.
    const auto last = std::lower_bound(sums_.begin(), sums_.end(), sums_.back());
    return ids_[static_cast<std::size_t>(std::min(place, last) - sums_.begin())];
  }

 private:
  std::vector<std::int32_t> ids_;
  std::vector<double> sums_;
};

/// Fills a sequence with drawn words, between its opening and closing tokens.
void fill(TokenSequence& sequence, const WordUrn& urn, const RandomWordsOptions& options, Random& random) {
  for (Index n = 0; n < options.length; ++n) {
    const bool opens = n == 0 && options.opens >= 0, closes = n + 1 == options.length && options.closes >= 0;
    sequence.ids.push_back(opens ? options.opens : closes ? options.closes : urn.draw(random));
    sequence.special.push_back(opens || closes ? 1 : 0);
  }
}

}  // namespace

RandomDocuments::RandomDocuments(Index documents, Index length, std::uint64_t seed,
                                 std::function<Document(Index i, Random random)> draw, Attributes notes)
    : count_(documents), length_(length), seed_(seed), draw_(std::move(draw)), provenance_(std::move(notes)) {
  provenance_["documents"] = static_cast<std::int64_t>(documents);
  provenance_["length"] = static_cast<std::int64_t>(length);
}

WordChances ranked_words(std::vector<std::int32_t> ids) {
  const auto count = static_cast<Index>(ids.size());
  return {std::move(ids), Vector::LinSpaced(count, 1, static_cast<double>(count)).cwiseInverse()};
}

std::unique_ptr<Source> random_words(WordChances words, const RandomWordsOptions& options, WordChances target) {
  const Index around = (options.opens >= 0 ? 1 : 0) + (options.closes >= 0 ? 1 : 0);
  if (words.ids.empty() || options.documents < 1 || options.length <= around)
    throw ShapeError(
        fmt::format("random_words: expected at least 1 document, 1 word to draw and {} tokens per document, found {} "
                    "documents, {} words and {} tokens",
                    around + 1, options.documents, words.ids.size(), options.length));
  const auto draw = [options, urn = WordUrn(std::move(words)), target_urn = WordUrn(std::move(target))](Index i,
                                                                                                        Random random) {
    Document document;
    document.name = fmt::format("random words, document {}", i);
    fill(document, urn, options, random);
    if (!target_urn.empty()) fill(document.target, target_urn, options, random);
    return document;
  };
  const char* const special = options.opens < 0 && options.closes < 0 ? "none"
                              : options.closes < 0                    ? "one before every document"
                              : options.opens < 0                     ? "one after every document"
                                                  : "opening and closing token around every document";
  return std::make_unique<RandomDocuments>(options.documents, options.length, options.seed, draw,
                                           Attributes{{"source", std::string("random words")},
                                                      {"word_seed", static_cast<std::int64_t>(options.seed)},
                                                      {"special_tokens", std::string(special)}});
}

std::unique_ptr<Source> repeated_tokens(std::vector<std::int32_t> ids, const RepeatedTokensOptions& options) {
  if (ids.empty() || options.documents < 1 || options.period < 1 || options.repeats < 1)
    throw ShapeError(fmt::format(
        "repeated_tokens: expected at least 1 document, 1 token, 1 repeat and 1 id to draw, found {} documents "
        "of {} tokens, {} repeats and {} ids",
        options.documents, options.period, options.repeats, ids.size()));
  const bool opens = options.opening >= 0;
  const auto draw = [=, ids = std::move(ids)](Index i, Random random) {
    std::vector<std::int32_t> drawn;
    for (Index n = 0; n < options.period; ++n)
      drawn.push_back(ids[static_cast<std::size_t>(random.below(static_cast<Index>(ids.size())))]);
    Document document;
    document.name = fmt::format("{} random tokens, {} times, number {}", options.period, options.repeats, i);
    if (opens) document.ids.push_back(options.opening);
    for (Index n = 0; n < options.repeats; ++n) document.ids.insert(document.ids.end(), drawn.begin(), drawn.end());
    document.special.assign(document.ids.size(), 0);
    if (opens) document.special.front() = 1;
    return document;
  };
  return std::make_unique<RandomDocuments>(
      options.documents, options.period * options.repeats + (opens ? 1 : 0), options.seed, draw,
      Attributes{{"source", std::string("repeated random tokens")},
                 {"period", static_cast<std::int64_t>(options.period)},
                 {"repeats", static_cast<std::int64_t>(options.repeats)},
                 {"token_seed", static_cast<std::int64_t>(options.seed)},
                 {"special_tokens", std::string(opens ? "one before every document" : "none")}});
}

}  // namespace headwave
