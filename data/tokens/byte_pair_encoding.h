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
  std::string unknown;             ///< the token for characters without a token; empty: such characters are skipped
  bool fuse_unknown = false;       ///< adjacent unknown characters are one token
  bool byte_fallback = false;      ///< a character without a token becomes its bytes' tokens "<0xE3>", if all exist
  bool whole_words_first = false;  ///< a word that is a token is not spelled by merges
  std::unordered_set<std::string> whole_words;  ///< these words are not spelled by merges either
  std::vector<std::int32_t>
      ranks;  ///< of each merge, from 0; of equal ranks the leftmost merge comes first; empty: places
  std::string continuing_prefix;  ///< how pieces inside a word begin
  std::string word_suffix;        ///< how pieces at the end of a word end
};

/// The two pieces that a merge joins.
using Merge = std::pair<std::string, std::string>;

/// Spells words by merges: a word begins as its characters. Of all neighbours that a merge joins, those of
/// the earliest merge are joined, the leftmost first, until no merge applies.
///
/// O(n log n) in the length of a word. Of a merge that is listed twice the later place counts.
///
/// Source: Sennrich, Haddow and Birch 2016, algorithm 1.
/// @param merges  in order of priority
/// @param file    what messages call the file
/// @throws FormatError if the parts or the result of a merge, or the unknown token, are not in the
///         vocabulary, or a second part does not begin with the prefix of pieces within a word
std::unique_ptr<TokenModel> byte_pair_encoding(Vocabulary vocabulary, const std::vector<Merge>& merges,
                                               const BytePairOptions& options, const std::string& file);

/// Reads a merge from a line "left right".
/// @param place  what messages call the line
/// @throws FormatError unless there is one blank, between two parts
Merge merge_of_line(std::string_view line, const std::string& place);

}  // namespace headwave
