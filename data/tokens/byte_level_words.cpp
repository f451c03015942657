#include <utility>

#include "byte_alphabet.h"
#include "word_splitter.h"

namespace headwave {

WordSplitter byte_level_words(const ByteLevelOptions& options) {
  constexpr const char* words_of_gpt2 =
      R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";  // (1)
  const WordSplitter cut = options.split_words
                               ? cut_at(regular_expression(words_of_gpt2, "byte-level BPE"), MatchBecomes::word)
                               : cut_by([](std::string_view text) { return std::vector{text}; });
  return [cut, prefixed = options.add_prefix_space](const Word& word) {
    const bool adds = prefixed && !word.text.starts_with(' ');
    std::vector<Word> words = adds ? cut({" " + word.text, word.begins_text}) : cut(word);
    for (Word& one : words) one.text = spelled_in_byte_alphabet(one.text);
    return words;
  };
}

}  // namespace headwave
