#include "word_splitter.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <fmt/format.h>
#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include "../files/unicode_text.h"
#include "normalizer.h"

namespace headwave {

namespace {

struct Alphabet {
  std::array<std::string, 256> letter;
  std::array<int, 0x180> byte{};  // -1: no letter

  Alphabet() {
    byte.fill(-1);
    char32_t next = 0x100;
    for (unsigned b = 0; b < 256; ++b) {
      const bool is_printable = (b >= '!' && b <= '~') || (b >= 0xA1 && b <= 0xAC) || b >= 0xAE;
      const char32_t c = is_printable ? b : next++;
      append_utf8(letter[b], c);
      byte[c] = static_cast<int>(b);
    }
  }
};

const Alphabet& alphabet() {
  static const Alphabet letters;
  return letters;
}

}  // namespace

std::string spelled_in_byte_alphabet(std::string_view bytes) {
  const auto& letter = alphabet().letter;
  std::string spelled;
  spelled.reserve(bytes.size() + bytes.size() / 2);
  for (const char b : bytes) spelled += letter[static_cast<unsigned char>(b)];
  return spelled;
}

std::string readable_spelling(std::string_view piece) {
  const auto& byte = alphabet().byte;
  std::string bytes;
  for (std::size_t at = 0; at < piece.size(); at += utf8_length(piece[at])) {
    const char32_t c = code_point(piece, at);
    if (c >= byte.size() || byte[c] < 0) return std::string(piece);
    bytes += static_cast<char>(static_cast<unsigned char>(byte[c]));
  }
  const auto* raw = reinterpret_cast<const std::uint8_t*>(bytes.data());
  std::string readable;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t begin = at;
    UChar32 c = 0;
    U8_NEXT(raw, at, bytes.size(), c);
    if (c >= 0) readable.append(bytes, begin, at - begin);
    for (std::size_t i = begin; c < 0 && i < at; ++i) readable += fmt::format("<0x{:02X}>", raw[i]);
  }
  return readable;
}

namespace {

/// A part of a text: a match, or the text between matches.
struct TextPart {
  TextRange range;
  bool is_match = false;
};

std::vector<TextPart> parts_of(const std::vector<TextRange>& matches, std::size_t size, bool inverted) {
  std::vector<TextPart> parts;
  parts.reserve(2 * matches.size() + 1);
  std::size_t done = 0;
  for (const TextRange& match : matches) {
    if (done < match.begin) parts.push_back({{done, match.begin}, inverted});
    parts.push_back({match, !inverted});
    done = match.end;
  }
  if (done < size) parts.push_back({{done, size}, inverted});
  return parts;
}

bool belongs_to_last(MatchBecomes become, bool is_match, bool last_is_match) {
  switch (become) {
    case MatchBecomes::end_of_word:
    case MatchBecomes::beginning_of_word:
      return is_match && !last_is_match;
    case MatchBecomes::word_of_all:
      return is_match == last_is_match;
    default:
      return false;
  }
}

std::vector<TextRange> ranges_of(std::vector<TextPart> parts, MatchBecomes become) {
  const bool backwards = become == MatchBecomes::beginning_of_word;
  if (backwards) std::reverse(parts.begin(), parts.end());
  std::vector<TextRange> ranges;
  ranges.reserve(parts.size());
  bool last_is_match = false;
  for (const auto& [range, is_match] : parts) {
    if (become == MatchBecomes::nothing && is_match) continue;
    if (!ranges.empty() && belongs_to_last(become, is_match, last_is_match))
      ranges.back() = {std::min(ranges.back().begin, range.begin), std::max(ranges.back().end, range.end)};
    else
      ranges.push_back(range);
    last_is_match = is_match;
  }
  if (backwards) std::reverse(ranges.begin(), ranges.end());
  return ranges;
}

bool is_punctuation(char32_t c) {
  if (c < 0x80)
    return u_ispunct(static_cast<UChar32>(c)) != 0 || (c > ' ' && c < 0x7F && u_isalnum(static_cast<UChar32>(c)) == 0);
  // Two characters were punctuation in Unicode 8, and have another category now.
  return c == 0x166D || c == 0x111C9 || has_category(c, U_GC_P_MASK, 8);
}

bool is_number(char32_t c) {
  return (U_GET_GC_MASK(static_cast<UChar32>(c)) & U_GC_N_MASK) != 0;
}

}  // namespace

WordSplitter cut_at(TextFinder matches, MatchBecomes become, bool inverted) {
  return [matches = std::move(matches), become, inverted](const Word& word) {
    std::vector<Word> words;
    const std::string& text = word.text;
    for (const auto& [begin, end] : ranges_of(parts_of(matches(text), text.size(), inverted), become))
      if (begin < end) words.push_back({text.substr(begin, end - begin), word.begins_text && begin == 0});
    return words;
  };
}

WordSplitter cut_at_numbers(bool each) {
  return cut_at(single_character(is_number), each ? MatchBecomes::word : MatchBecomes::word_of_all);
}

WordSplitter word_runs() {
  constexpr const char* runs =  // \w as Rust has it
      R"([\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}]+|[^\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}\s]+)";
  return cut_at(regular_expression(runs, "word runs"), MatchBecomes::nothing, true);
}

WordSplitter white_space_words() {
  return cut_at(single_character(is_white_space), MatchBecomes::nothing);
}

WordSplitter cut_at_punctuation(MatchBecomes become) {
  return cut_at(single_character(is_punctuation), become);
}

WordSplitter bert_words() {
  return in_sequence({white_space_words(), cut_at_punctuation(MatchBecomes::word)});
}

WordSplitter in_sequence(std::vector<WordSplitter> splitters) {
  return [splitters = std::move(splitters)](const Word& text) {
    std::vector<Word> words = {text};
    for (const WordSplitter& splitter : splitters) {
      std::vector<Word> finer;
      for (const Word& word : words)
        for (Word& part : splitter(word)) finer.push_back(std::move(part));
      words = std::move(finer);
    }
    return words;
  };
}

WordSplitter metaspace_words(const MetaspaceOptions& options) {
  return [options, cut = cut_at(fixed_string(options.split ? options.mark : ""), MatchBecomes::beginning_of_word),
          marked = replaced(fixed_string(" "), options.mark)](const Word& word) {
    const bool wanted =
        options.prepend == PrependScheme::always || (options.prepend == PrependScheme::first && word.begins_text);
    std::string text = marked(word.text);
    if (wanted && !text.starts_with(options.mark)) text.insert(0, options.mark);
    return cut({std::move(text), word.begins_text});
  };
}

WordSplitter byte_level_words(const ByteLevelOptions& options) {
  constexpr const char* words_of_gpt2 =
      R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";  // (1)
  const TextFinder pieces =
      options.split_words ? regular_expression(words_of_gpt2, "byte-level BPE") : fixed_string("");
  return [cut = cut_at(pieces, MatchBecomes::word), prefixed = options.add_prefix_space](const Word& word) {
    const bool adds = prefixed && !word.text.starts_with(' ');
    std::vector<Word> words = adds ? cut({" " + word.text, word.begins_text}) : cut(word);
    for (Word& one : words) one.text = spelled_in_byte_alphabet(one.text);
    return words;
  };
}

}  // namespace headwave
