#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "../numbers/random.h"
#include "source.h"

namespace headwave {

/// Documents of one length, each drawn from a random stream of its own.
class RandomDocuments : public Source {
 public:
  /// @param draw   makes document i; may be called from several threads
  /// @param notes  provenance beside the number of documents and their length
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
///     p(word) ~ 1 / rank,  rank 1 the first of the ids                                          (1)
///
/// Learned vocabularies are roughly sorted so: BERT's begins with "the", "of", "and", and byte pairs are
/// stored in the order of their merges. No text is counted.
///
/// Source: Zipf 1949.
WordChances ranked_words(std::vector<std::int32_t> ids);

struct RandomWordsOptions {
  Index documents = 4;
  Index length = 512;        ///< T, tokens of a document, special tokens included
  std::int32_t opens = -1;   ///< id of the first token of every document; -1: drawn
  std::int32_t closes = -1;  ///< id of the last token of every document; -1: drawn
  std::uint64_t seed = 1;
};

/// Documents of independent random words. If a head prefers an offset in them, the cause is positions and
/// single words, not the order of a text.
///
/// @param words   words to draw from
/// @param target  words of the sequence that a decoder reads, which has the same length; no ids: no target
/// @throws ShapeError if there are no words or documents, or special tokens leave no room for a word
std::unique_ptr<Source> random_words(WordChances words, const RandomWordsOptions& options = {},
                                     WordChances target = {});

struct RepeatedTokensOptions {
  Index documents = 100;
  Index period = 50;          ///< tokens drawn anew for each document
  Index repeats = 3;          ///< copies of them, one after another
  std::int32_t opening = -1;  ///< id of a token before them; -1: none
  std::uint64_t seed = 1;
};

/// Random tokens, repeated. This text reveals induction heads, since only the first copy tells what comes
/// next in the second. The third copy makes documents long enough for the search: the offset 1 - period of an
/// induction head must lie within half a document's length, and not at the end of the search.
///
/// Source: Elhage et al. 2021; Olsson et al. 2022.
/// @param ids  the ids to draw from, all equally likely
/// @throws ShapeError if there are no ids, or a number is below 1
std::unique_ptr<Source> repeated_tokens(std::vector<std::int32_t> ids, const RepeatedTokensOptions& options = {});

}  // namespace headwave
