#include "random_documents.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "../numbers/random.h"

namespace headwave {

namespace {

/// Draws by the sums of chances up to each word.
class WordUrn {
 public:
  explicit WordUrn(WordChances words) : ids_(std::move(words.ids)) {
    double sum = 0;
    for (const double chance : words.chance) sums_.push_back(sum += chance);
  }

  [[nodiscard]] bool empty() const { return ids_.empty(); }

  [[nodiscard]] std::int32_t draw(Random& random) const {
    const auto place = std::upper_bound(sums_.begin(), sums_.end(), random.uniform() * sums_.back());
    // Rounding may put the largest number at the very end, where words without a chance may stand.
    const auto last = std::lower_bound(sums_.begin(), sums_.end(), sums_.back());
    return ids_[static_cast<std::size_t>(std::min(place, last) - sums_.begin())];
  }

 private:
  std::vector<std::int32_t> ids_;
  std::vector<double> sums_;
};

class RandomWords : public Source {
 public:
  RandomWords(WordUrn words, WordUrn target, const RandomWordsOptions& options)
      : words_(std::move(words)), target_(std::move(target)), options_(options) {}

  [[nodiscard]] Index count() const override { return options_.documents; }
  [[nodiscard]] Index length(Index /*i*/) const override { return options_.length; }

  [[nodiscard]] Document document(Index i) const override {
    Random random = Random(options_.seed).stream(static_cast<std::uint64_t>(i));
    Document document;
    document.name = fmt::format("random words, document {}", i);
    fill(document, words_, random);
    if (!target_.empty()) fill(document.target, target_, random);
    return document;
  }

  [[nodiscard]] Attributes provenance() const override {
    return {{"source", std::string("random words")},
            {"documents", static_cast<std::int64_t>(options_.documents)},
            {"length", static_cast<std::int64_t>(options_.length)},
            {"word_seed", static_cast<std::int64_t>(options_.seed)},
            {"special_tokens", std::string(options_.opens < 0 && options_.closes < 0 ? "none"
                                           : options_.closes < 0                     ? "one before every document"
                                           : options_.opens < 0                      ? "one after every document"
                                                                : "opening and closing token around every document")}};
  }

 private:
  void fill(TokenSequence& sequence, const WordUrn& urn, Random& random) const {
    for (Index n = 0; n < options_.length; ++n) {
      const bool opens = n == 0 && options_.opens >= 0, closes = n + 1 == options_.length && options_.closes >= 0;
      sequence.ids.push_back(opens ? options_.opens : closes ? options_.closes : urn.draw(random));
      sequence.special.push_back(opens || closes ? 1 : 0);
    }
  }

  WordUrn words_, target_;
  RandomWordsOptions options_;
};

}  // namespace

WordChances ranked_words(std::vector<std::int32_t> ids) {
  const auto count = static_cast<Index>(ids.size());
  return {std::move(ids), Vector::LinSpaced(count, 1, static_cast<double>(count)).cwiseInverse()};
}

std::unique_ptr<Source> random_words(WordChances words, const RandomWordsOptions& options, WordChances target) {
  const Index around = (options.opens >= 0 ? 1 : 0) + (options.closes >= 0 ? 1 : 0);
  if (words.ids.empty() || options.documents < 1 || options.length <= around)
    throw ShapeError(
        fmt::format("random_words: {} documents of {} tokens, {} of them around {} different words; expected at least "
                    "one document, one word, and room for it",
                    options.documents, options.length, around, words.ids.size()));
  return std::make_unique<RandomWords>(WordUrn(std::move(words)), WordUrn(std::move(target)), options);
}

namespace {

class RepeatedTokens : public Source {
 public:
  RepeatedTokens(std::vector<std::int32_t> ids, const RepeatedTokensOptions& options)
      : ids_(std::move(ids)), options_(options) {}

  [[nodiscard]] Index count() const override { return options_.documents; }
  [[nodiscard]] Index length(Index /*i*/) const override {
    return options_.period * options_.repeats + (options_.opening >= 0 ? 1 : 0);
  }

  [[nodiscard]] Document document(Index i) const override {
    Random random = Random(options_.seed).stream(static_cast<std::uint64_t>(i));
    std::vector<std::int32_t> drawn;
    for (Index n = 0; n < options_.period; ++n)
      drawn.push_back(ids_[static_cast<std::size_t>(random.below(static_cast<Index>(ids_.size())))]);
    Document document;
    document.name = fmt::format("{} random tokens, {} times, number {}", options_.period, options_.repeats, i);
    if (options_.opening >= 0) document.ids.push_back(options_.opening);
    for (Index n = 0; n < options_.repeats; ++n) document.ids.insert(document.ids.end(), drawn.begin(), drawn.end());
    document.special.assign(document.ids.size(), 0);
    if (options_.opening >= 0) document.special.front() = 1;
    return document;
  }

  [[nodiscard]] Attributes provenance() const override {
    return {{"source", std::string("repeated random tokens")},
            {"documents", static_cast<std::int64_t>(count())},
            {"length", static_cast<std::int64_t>(length(0))},
            {"period", static_cast<std::int64_t>(options_.period)},
            {"repeats", static_cast<std::int64_t>(options_.repeats)},
            {"token_seed", static_cast<std::int64_t>(options_.seed)},
            {"special_tokens", std::string(options_.opening >= 0 ? "one before every document" : "none")}};
  }

 private:
  std::vector<std::int32_t> ids_;
  RepeatedTokensOptions options_;
};

}  // namespace

std::unique_ptr<Source> repeated_tokens(std::vector<std::int32_t> ids, const RepeatedTokensOptions& options) {
  if (ids.empty() || options.documents < 1 || options.period < 1 || options.repeats < 1)
    throw ShapeError(
        fmt::format("repeated_tokens: {} documents of {} tokens {} times, drawn from {} ids; expected each "
                    "to be at least 1",
                    options.documents, options.period, options.repeats, ids.size()));
  return std::make_unique<RepeatedTokens>(std::move(ids), options);
}

}  // namespace headwave
