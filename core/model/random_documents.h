#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "../numbers/random.h"
#include "source.h"

namespace headwave {

/// Random documents of equal length. Each document is drawn from its own random stream.
class RandomDocuments : public Source {
 public:
  /// @param draw   makes document i; may be called from several threads
  /// @param notes  provenance to add to the number of documents and their length
  RandomDocuments(Index documents, Index length, std::uint64_t seed,
                  std::function<Document(Index i, Random random)> draw, Attributes notes);

  [[nodiscard]] Index count() const override { return count_; }
  [[nodiscard]] Index length(Index /*i*/) const override { return length_; }
  [[nodiscard]] Document document(Index i) const override {
    return draw_(i, Random(seed_).stream(static_cast<std::uint64_t>(i)));
  }
  [[nodiscard]] Attributes provenance() const override { return provenance_; }

 private:
  Index count_, length_;
  std::uint64_t seed_;
  std::function<Document(Index i, Random random)> draw_;
  Attributes provenance_;
};

/// The words that may be drawn, and how likely each is.
struct WordChances {
  std::vector<std::int32_t> ids;
  Vector chance;  ///< (ids)  not negative; only ratios count
};

/// Gives words the chances of Zipf's law, for a vocabulary that is sorted by frequency:
///
///     p(word) ~ 1 / rank,  where the first of the ids has rank 1                                (1)
///
/// Learned vocabularies are roughly sorted by frequency: BERT's begins with "the", "of", "and", and byte
/// pairs are stored in the order of their merges. No frequency is measured in a text.
///
/// Source: Zipf 1949.
WordChances ranked_words(std::vector<std::int32_t> ids);

struct RandomWordsOptions {
  Index documents = 4;
  Index length = 512;        ///< T, tokens of a document, special tokens included
  std::int32_t opens = -1;   ///< id of the first token of every document; -1: it is a random word
  std::int32_t closes = -1;  ///< id of the last token of every document; -1: it is a random word
  std::uint64_t seed = 1;
};

/// Documents of independent random words. If a head prefers an offset in these documents, this is due to
/// positions and single words, not to the order of words.
///
/// @param words   words to draw from
/// @param target  words to draw the target from, which is as long as the document; no ids: no target
/// @throws ShapeError if there are no words or no documents, or a document has no room for a word
std::unique_ptr<Source> random_words(WordChances words, const RandomWordsOptions& options = {},
                                     WordChances target = {});

struct RepeatedTokensOptions {
  Index documents = 100;
  Index period = 50;          ///< number of tokens that are drawn for each document
  Index repeats = 3;          ///< number of copies of these tokens, one after another
  std::int32_t opening = -1;  ///< id of a token before the first copy; -1: none
  std::uint64_t seed = 1;
};

/// Documents of random tokens that are repeated. They reveal induction heads, since only an earlier copy
/// tells which token comes next. The third copy makes documents long enough: an induction head looks at
/// offset 1 - period, and the search covers half a document's length and must not end at this offset.
///
/// Source: Elhage et al. 2021; Olsson et al. 2022.
/// @param ids  the ids to draw from, all equally likely
/// @throws ShapeError if there are no ids, or documents, period or repeats are below 1
std::unique_ptr<Source> repeated_tokens(std::vector<std::int32_t> ids, const RepeatedTokensOptions& options = {});

}  // namespace headwave
