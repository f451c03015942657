#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace headwave {

/// How a normalised text is cut into the words that the vocabulary spells one by one. May be called from several
/// threads at once.
using WordSplitter = std::function<std::vector<std::string>(std::string_view)>;

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
