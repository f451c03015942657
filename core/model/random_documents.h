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
  /// @param draw  may be called from several threads
  /// @param notes  provenance beside the numbers of documents and tokens
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
  Vector chance;  ///< (ids)  not negative, in any one unit: only ratios count
};

/// Words by Zipf's law, for a vocabulary that is sorted by frequency:
///
///     p(word) ~ 1 / rank,  rank 1 the first of the ids                                          (1)
///
/// Learnt vocabularies are roughly sorted so: BERT's begins with "the", "of", "and", and byte pairs stand in
/// the order in which they were merged. Nothing is counted in any text.
///
/// Source: Zipf 1949.
WordChances ranked_words(std::vector<std::int32_t> ids);

struct RandomWordsOptions {
  Index documents = 4;
  Index length = 512;        ///< T, tokens of a document, special tokens included
  std::int32_t opens = -1;   ///< id before every document; -1: none
  std::int32_t closes = -1;  ///< id after every document; -1: none
  std::uint64_t seed = 1;
};

/// Documents of independent random words: an offset that a head prefers in them comes from positions and
/// single words, not from the order of a text.
///
/// @param words   that are drawn, each independently of all others
/// @param target  likewise for the sequence that a decoder reads, of the same length; without ids there is
///         none
/// @throws ShapeError if there are no words, no room between what stands around them, or no document
std::unique_ptr<Source> random_words(WordChances words, const RandomWordsOptions& options = {},
                                     WordChances target = {});

struct RepeatedTokensOptions {
  Index documents = 100;
  Index period = 50;          ///< tokens drawn anew for each document
  Index repeats = 3;          ///< how often they follow one another
  std::int32_t opening = -1;  ///< id put before them; -1: none
  std::uint64_t seed = 1;
};

/// Random tokens, repeated: the text that reveals induction heads, since only the first copy tells what comes
/// next in the second. The third makes documents long enough that what followed the copy before, period - 1 tokens
/// back, lies within the half of a document that is searched for offsets, and not at its end.
///
/// Source: Elhage et al. 2021; Olsson et al. 2022.
/// @param ids  the ids to draw from, all equally likely
/// @throws ShapeError if there are no ids, or a number is below 1
std::unique_ptr<Source> repeated_tokens(std::vector<std::int32_t> ids, const RepeatedTokensOptions& options = {});

}  // namespace headwave
