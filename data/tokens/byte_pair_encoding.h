#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "token_model.h"

namespace headwave {

struct BytePairOptions {
  std::string unknown;             ///< the token for a character without one; empty: such characters are left out
  bool fuse_unknown = false;       ///< neighbouring unknown characters are one token
  bool byte_fallback = false;      ///< a character without a token becomes its bytes' tokens "<0xE3>", where all exist
  bool whole_words_first = false;  ///< a word that is a token is taken as it is, whatever the merges
  std::unordered_set<std::string> whole_words;  ///< words taken as they are: tokens
  std::vector<std::int32_t>
      ranks;  ///< of each merge, the first is 0; of equal ones the leftmost is made. Empty: their places
  std::string continuing_prefix;  ///< what pieces begin with that do not begin a word
  std::string word_suffix;        ///< what pieces end with that end a word
};

/// The two pieces that a merge joins.
using Merge = std::pair<std::string, std::string>;

/// Spelling by merges: a word begins as its characters; of all neighbours that some merge joins, those of the earliest
/// merge in the list are joined, the leftmost first, until none is left.
///
/// O(n log n) in the length of a word, whatever the word. Of a merge that stands twice the later place counts.
///
/// Source: Sennrich, Haddow and Birch 2016, algorithm 1.
/// @param merges  in order of priority
/// @param file    what messages call the file
/// @throws FormatError if the parts or the result of a merge, or the unknown token, are not in the vocabulary, or a second
///         part does not begin with the prefix of pieces within a word
std::unique_ptr<TokenModel> byte_pair_encoding(Vocabulary vocabulary, const std::vector<Merge>& merges,
                                               const BytePairOptions& options, const std::string& file);

/// The merge that a line "left right" asks for.
/// @param place  what messages call the line
/// @throws FormatError if there is not one blank between two parts
Merge merge_of_line(std::string_view line, const std::string& place);

}  // namespace headwave
