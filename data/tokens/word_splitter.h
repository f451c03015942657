#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "regular_expression.h"

namespace headwave {

/// A stretch of a normalised text that the vocabulary spells by itself.
struct Word {
  std::string text;
  bool begins_text = false;  ///< it stands at the beginning of the whole text
};

/// How a normalised text is cut into the words that the vocabulary spells one by one. May be called from several
/// threads at once.
using WordSplitter = std::function<std::vector<Word>(const Word&)>;

/// The splitter that a function on bare texts makes: its views lie in the text that it was given.
WordSplitter cut_by(std::function<std::vector<std::string_view>(std::string_view)> cuts);

/// What becomes of the matches that a text is cut at.
enum class MatchBecomes {
  nothing,            ///< is left out
  word,               ///< is a word by itself
  end_of_word,        ///< is added to the word before; of matches side by side only the first
  beginning_of_word,  ///< is added to the word after; of matches side by side only the last
  word_of_all         ///< matches side by side are one word
};

/// A text cut at what is found in it.
/// @param inverted  cut at what is found between instead
WordSplitter cut_at(TextFinder matches, MatchBecomes become, bool inverted = false);

/// A text cut at its numbers: characters of the categories Nd, Nl and No.
/// @param each  every one of them is a word; false: runs are
WordSplitter cut_at_numbers(bool each);

/// Runs of word characters, and runs of what is neither word character nor white space: `\w+|[^\w\s]+`.
WordSplitter word_runs();

/// Every splitter cuts what the one before left.
WordSplitter in_sequence(std::vector<WordSplitter> splitters);

struct ByteLevelOptions {
  bool add_prefix_space = false;  ///< a blank before a text that does not begin with one
  bool split_words = true;        ///< false: bytes are respelled, nothing is cut
};

/// GPT-2's words, respelled byte by byte in the byte alphabet: a blank belongs to the word after it.
///
///     's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+                          (1)
///
/// Source: Radford et al. 2019, the released encoder.
/// @throws FormatError if PCRE2 lacks Unicode
WordSplitter byte_level_words(const ByteLevelOptions& options);

}  // namespace headwave
