#include "bert_text.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <unicode/uchar.h>

#include "../files/unicode_text.h"

namespace headwave {

namespace {

// Characters whose category changed after Unicode 8 are listed where they matter.
bool has_old_category(char32_t c, std::uint32_t mask) {
  return has_category(c, mask, 8);
}

bool is_control(char32_t c) {
  return c != '\t' && c != '\n' && c != '\r' && has_old_category(c, U_GC_CC_MASK | U_GC_CF_MASK | U_GC_CO_MASK);
}

bool is_nonspacing_mark(char32_t c) {
  constexpr std::array<char32_t, 4> marks_only_later = {0x1885, 0x1886, 0xA9BD, 0x111C9};
  constexpr char32_t mark_no_longer = 0x1734;
  if (std::find(marks_only_later.begin(), marks_only_later.end(), c) != marks_only_later.end()) return false;
  return c == mark_no_longer || has_old_category(c, U_GC_MN_MASK);
}

bool is_punctuation(char32_t c) {
  if (c < 0x80)
    return u_ispunct(static_cast<UChar32>(c)) != 0 || (c > ' ' && c < 0x7F && u_isalnum(static_cast<UChar32>(c)) == 0);
  return c == 0x166D || c == 0x111C9 || has_old_category(c, U_GC_P_MASK);
}

// The blocks that BERT's release names; the gap before 2B920 is its own.
bool is_ideograph(char32_t c) {
  struct Block {
    char32_t first, last;
  };
  constexpr std::array<Block, 8> blocks = {{{0x3400, 0x4DBF},
                                            {0x4E00, 0x9FFF},
                                            {0xF900, 0xFAFF},
                                            {0x20000, 0x2A6DF},
                                            {0x2A700, 0x2B73F},
                                            {0x2B740, 0x2B81F},
                                            {0x2B920, 0x2CEAF},
                                            {0x2F800, 0x2FA1F}}};
  return std::any_of(blocks.begin(), blocks.end(),
                     [c](const Block& block) { return block.first <= c && c <= block.last; });
}

template <class Change>
std::string changed_by_character(std::string_view text, Change change) {
  std::string changed;
  changed.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); at += utf8_length(text[at])) change(changed, code_point(text, at));
  return changed;
}

std::string cleaned(std::string_view text) {
  return changed_by_character(text, [](std::string& out, char32_t c) {
    if (c == 0 || c == 0xFFFD || is_control(c)) return;
    append_utf8(out, is_white_space(c) ? U' ' : c);
  });
}

std::string with_ideographs_apart(std::string_view text) {
  return changed_by_character(text, [](std::string& out, char32_t c) {
    const bool apart = is_ideograph(c);
    if (apart) out += ' ';
    append_utf8(out, c);
    if (apart) out += ' ';
  });
}

std::string without_accents(std::string_view text) {
  return changed_by_character(text, [](std::string& out, char32_t c) {
    if (!is_nonspacing_mark(c)) append_utf8(out, c);
  });
}

}  // namespace

Normalizer bert_normalizer(const BertTextOptions& options) {
  std::vector<Normalizer> steps;
  if (options.clean_text) steps.emplace_back(cleaned);
  if (options.handle_chinese_chars) steps.emplace_back(with_ideographs_apart);
  if (options.strip_accents.value_or(options.lowercase)) {
    steps.push_back(normal_form(NormalForm::nfd));
    steps.emplace_back(without_accents);
  }
  if (options.lowercase) steps.push_back(lower_case());
  return in_sequence(std::move(steps));
}

WordSplitter given_words() {
  return cut_at(single_character(is_white_space), MatchBecomes::nothing);
}

WordSplitter single_characters() {
  return in_sequence({given_words(), cut_at(single_character([](char32_t) { return true; }), MatchBecomes::word)});
}

WordSplitter cut_at_punctuation(MatchBecomes become) {
  return cut_at(single_character(is_punctuation), become);
}

WordSplitter bert_words() {
  return in_sequence({given_words(), cut_at_punctuation(MatchBecomes::word)});
}

}  // namespace headwave
