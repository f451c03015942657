#include "word_splitter.h"

#include <cstddef>
#include <utility>

#include "../files/unicode_text.h"

namespace headwave {

WordSplitter word_runs() {
  enum class Kind { space, word, other };
  const auto kind_of = [](char32_t c) {
    return is_white_space(c) ? Kind::space : is_word_character(c) ? Kind::word : Kind::other;
  };
  return [kind_of](std::string_view text) {
    std::vector<std::string> words;
    std::size_t begin = 0;
    Kind kind = Kind::space;
    const auto end_word = [&](std::size_t end) {
      if (kind != Kind::space) words.emplace_back(text.substr(begin, end - begin));
    };
    for (std::size_t at = 0; at < text.size(); at += utf8_length(text[at])) {
      const Kind next = kind_of(code_point(text, at));
      if (next == kind) continue;
      end_word(at);
      begin = at;
      kind = next;
    }
    end_word(text.size());
    return words;
  };
}

WordSplitter in_sequence(std::vector<WordSplitter> splitters) {
  return [splitters = std::move(splitters)](std::string_view text) {
    std::vector<std::string> words = {std::string(text)};
    for (const WordSplitter& splitter : splitters) {
      std::vector<std::string> finer;
      for (const std::string& word : words)
        for (std::string& part : splitter(word)) finer.push_back(std::move(part));
      words = std::move(finer);
    }
    return words;
  };
}

}  // namespace headwave
