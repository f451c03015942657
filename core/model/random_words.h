#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "source.h"

namespace headwave {

/// Words that may be drawn, and how often each is.
struct WordChances {
  std::vector<std::int32_t> ids;
  Vector chance;  ///< (ids)  not negative, in any one unit: only ratios count
};

/// Every word as often as any other.
WordChances even_words(std::vector<std::int32_t> ids);

/// Words as often as in a language whose vocabulary stands in the order of frequency:
///
///     p(word) ~ 1 / rank,  rank 1 the first of the ids                                          (1)
///
/// Vocabularies are learnt from a text and keep something of that order: a BERT's begins with "the", "of", "and", byte
/// pairs stand as they were merged. It is no count of any text.
///
/// Source: Zipf 1949.
WordChances ranked_words(std::vector<std::int32_t> ids);

struct RandomWordsOptions {
  Index documents = 4;
  Index length = 512;        ///< T, tokens of a document, what stands around the words included
  std::int32_t opens = -1;   ///< id before every document; -1: none
  std::int32_t closes = -1;  ///< id after every document; -1: none
  std::uint64_t seed = 1;
};

/// Documents of words that know nothing of each other: whatever offset a head prefers over them comes from the positions
/// and from single words, not from a text's order.
///
/// @param words   that are drawn, each independently of all others
/// @param target  likewise for the sequence that a decoder reads, of the same length; without ids there is none
/// @throws ShapeError if there are no words, not one chance for each, no room between what stands around them, or no
///         document; NumericError if a chance is negative or not finite, or all are 0
std::unique_ptr<Source> random_words(WordChances words, const RandomWordsOptions& options = {},
                                     WordChances target = {});

}  // namespace headwave
