#include "visible_text.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "../../data/files/unicode_text.h"

namespace headwave {

namespace {

struct Character {
  char32_t code = 0;     ///< of a byte that is not UTF-8: the byte
  std::size_t size = 1;  ///< bytes
  bool valid = true;
};

Character decoded(std::string_view text) {
  const std::size_t size = utf8_length(text.front());
  const std::string_view bytes = text.substr(0, size);
  if (bytes.size() == size && is_valid_utf8(bytes)) return {code_point(bytes, 0), size, true};
  return {static_cast<unsigned char>(text.front()), 1, false};
}

using Range = std::pair<char32_t, char32_t>;

template <std::size_t n>
bool within(const Range (&ranges)[n], char32_t code) {
  return std::any_of(std::begin(ranges), std::end(ranges),
                     [&](const Range& range) { return code >= range.first && code <= range.second; });
}

// Characters without ink that change how, where or whether other characters are shown. Variation selectors
// and the joiner U+200D are not listed, because emoji are written with them.
constexpr Range steering[] = {{0x7F, 0x9F},     {0xAD, 0xAD},     {0x61C, 0x61C},     {0x180E, 0x180E},
                              {0x200B, 0x200C}, {0x200E, 0x200F}, {0x2028, 0x202E},   {0x2060, 0x206F},
                              {0xFEFF, 0xFEFF}, {0xFFF9, 0xFFFB}, {0xE0000, 0xE00FF}, {0xFFFE, 0xFFFF}};

std::string shown(const Character& character, std::string_view bytes) {
  if (!character.valid) return fmt::format("\\x{:02x}", static_cast<unsigned>(character.code));
  if (character.code == '\n') return "\\n";
  if (character.code == '\t') return "\\t";
  if (character.code == '\r') return "\\r";
  if (character.code < ' ' || within(steering, character.code))
    return fmt::format("\\u{:04x}", static_cast<unsigned>(character.code));
  return std::string(bytes);
}

}  // namespace

std::string visible_text(std::string_view text) {
  const std::size_t first = std::min(text.find_first_not_of(' '), text.size());
  const std::size_t past = text.find_last_not_of(' ') + 1;  // npos + 1 is 0: nothing but spaces
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const Character character = decoded(text.substr(i));
    const bool edge = i < first || i >= past;
    out += edge ? "␣" : shown(character, text.substr(i, character.size));
    i += character.size;
  }
  return out;
}

Index display_width(std::string_view text) {
  Index width = 0;
  for (std::size_t i = 0; i < text.size();) {
    const Character character = decoded(text.substr(i));
    width += character.valid ? terminal_columns(character.code) : 1;
    i += character.size;
  }
  return width;
}

std::string shortened(std::string_view text, Index width) {
  if (display_width(text) <= width) return std::string(text);
  Index used = 1;  // the ellipsis
  std::size_t end = 0;
  while (end < text.size()) {
    const Character character = decoded(text.substr(end));
    used += character.valid ? terminal_columns(character.code) : 1;
    if (used > width) break;
    end += character.size;
  }
  return std::string(text.substr(0, end)) + "…";
}

std::string wrapped_text(const std::string& text, Index width, Index column, const std::string& indent) {
  std::string result;
  Index at = column;
  for (std::size_t first = 0; first < text.size();) {
    const std::size_t end = std::min(text.find(' ', first), text.size());
    const std::string word = text.substr(first, end - first);
    const Index size = display_width(word);
    first = end + 1;
    if (at > column && at + 1 + size > width) {
      result += "\n" + indent;
      at = column;
    }
    if (at > column) {
      result += ' ';
      ++at;
    }
    result += word;
    at += size;
  }
  return result;
}

void replace_all(std::string& text, std::string_view old, std::string_view by) {
  for (std::size_t at = text.find(old); at != std::string::npos; at = text.find(old, at + by.size()))
    text.replace(at, old.size(), by);
}

std::string html_text(std::string_view text) {
  std::string out = visible_text(text);
  for (const auto& [sign, entity] :
       {std::pair{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}, {"'", "&#39;"}})
    replace_all(out, sign, entity);
  return out;
}

}  // namespace headwave
