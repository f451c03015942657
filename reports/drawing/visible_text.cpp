#include "visible_text.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

namespace headwave {

namespace {

struct Character {
  char32_t code = 0;     ///< or the byte itself where it is no UTF-8
  std::size_t size = 1;  ///< bytes
  bool valid = true;
};

Character decoded(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return {first, 1, true};
  const std::size_t size = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  const Character broken{first, 1, false};
  if (first < 0xC2 || first > 0xF4 || text.size() < size) return broken;
  char32_t code = first & (0x7FU >> size);
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xC0U) != 0x80) return broken;
    code = (code << 6U) | (byte(i) & 0x3FU);
  }
  constexpr char32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  return code < smallest[size] || surrogate || code > 0x10FFFF ? broken : Character{code, size, true};
}

using Range = std::pair<char32_t, char32_t>;

template <std::size_t n>
bool within(const Range (&ranges)[n], char32_t code) {
  return std::any_of(std::begin(ranges), std::end(ranges),
                     [&](const Range& range) { return code >= range.first && code <= range.second; });
}

// Characters that take no ink of their own but change how, where or whether others are shown. The variation selectors
// and the joiner U+200D are left alone: emoji are written with them.
constexpr Range steering[] = {{0x7F, 0x9F},     {0xAD, 0xAD},     {0x61C, 0x61C},     {0x180E, 0x180E},
                              {0x200B, 0x200C}, {0x200E, 0x200F}, {0x2028, 0x202E},   {0x2060, 0x206F},
                              {0xFEFF, 0xFEFF}, {0xFFF9, 0xFFFB}, {0xE0000, 0xE00FF}, {0xFFFE, 0xFFFF}};
constexpr Range no_width[] = {{0x300, 0x36F},    {0x483, 0x489},   {0x591, 0x5BD},   {0x610, 0x61A},   {0x64B, 0x65F},
                              {0x900, 0x902},    {0x93C, 0x93C},   {0x941, 0x948},   {0x94D, 0x94D},   {0xE31, 0xE31},
                              {0xE34, 0xE3A},    {0xE47, 0xE4E},   {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF}, {0x200B, 0x200F},
                              {0x20D0, 0x20FF},  {0x302A, 0x302D}, {0x3099, 0x309A}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F},
                              {0x1F3FB, 0x1F3FF}};
constexpr Range two_columns[] = {{0x1100, 0x115F},   {0x2E80, 0x303E},   {0x3041, 0x33FF},   {0x3400, 0x4DBF},
                                 {0x4E00, 0x9FFF},   {0xA000, 0xA4CF},   {0xA960, 0xA97F},   {0xAC00, 0xD7A3},
                                 {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},   {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},
                                 {0x1F300, 0x1F64F}, {0x1F680, 0x1F6FF}, {0x1F900, 0x1FAFF}, {0x20000, 0x3FFFD}};

Index width_of(char32_t code) {
  if (code < 0x300) return 1;
  if (within(no_width, code)) return 0;
  return within(two_columns, code) ? 2 : 1;
}

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
    width += character.valid ? width_of(character.code) : 1;
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
    used += character.valid ? width_of(character.code) : 1;
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
