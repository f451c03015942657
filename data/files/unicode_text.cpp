#include "unicode_text.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include "../../core/errors/error.h"

namespace headwave {

namespace {

constexpr std::size_t longest_text = std::size_t{1} << 30U;

unsigned byte_at(std::string_view text, std::size_t at) {
  return static_cast<unsigned char>(text[at]);
}

/// Calls `seen(begin, end)` for every maximal ill-formed sequence.
template <class Seen>
void each_ill_formed(std::string_view text, Seen seen) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(text.data());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    UChar32 c = 0;
    U8_NEXT(bytes, at, text.size(), c);
    if (c < 0) seen(begin, at);
  }
}

}  // namespace

std::string valid_utf8(std::string_view text) {
  if (text.size() > longest_text)
    throw ShapeError(
        fmt::format("a text of {} bytes is too long, expected at most {}: split it", text.size(), longest_text));
  std::string valid;
  valid.reserve(text.size());
  std::size_t good = 0;
  each_ill_formed(text, [&](std::size_t begin, std::size_t end) {
    valid += text.substr(good, begin - good);
    append_utf8(valid, 0xFFFD);
    good = end;
  });
  return valid += text.substr(good);
}

bool is_valid_utf8(std::string_view text) {
  return ill_formed_utf8(text) == text.npos;
}

std::size_t ill_formed_utf8(std::string_view text) {
  std::size_t first = text.npos;
  each_ill_formed(text, [&](std::size_t begin, std::size_t) { first = std::min(first, begin); });
  return first;
}

std::size_t whole_characters(std::string_view text) {
  std::size_t start = text.size();  // of the last character
  while (start > 0 && text.size() - start < 4 && (byte_at(text, start - 1) & 0xC0U) == 0x80U) --start;
  if (start == 0) return text.size();
  --start;
  return text.size() - start < utf8_length(text[start]) ? start : text.size();
}

std::string_view without_byte_order_mark(std::string_view text) {
  constexpr std::string_view mark = "\xef\xbb\xbf";
  return text.starts_with(mark) ? text.substr(mark.size()) : text;
}

char32_t code_point(std::string_view text, std::size_t at) {
  UChar32 c = 0;
  U8_GET_UNSAFE(reinterpret_cast<const std::uint8_t*>(text.data()), at, c);
  return static_cast<char32_t>(c);
}

char32_t last_code_point(std::string_view text) {
  std::size_t at = text.size() - 1;
  while (at > 0 && (byte_at(text, at) & 0xC0U) == 0x80U) --at;
  return code_point(text, at);
}

void append_utf8(std::string& text, char32_t c) {
  std::array<std::uint8_t, U8_MAX_LENGTH> bytes{};
  std::size_t count = 0;
  U8_APPEND_UNSAFE(bytes.data(), count, static_cast<std::uint32_t>(c));
  text.append(reinterpret_cast<const char*>(bytes.data()), count);
}

bool has_category(char32_t c, std::uint32_t mask, int unicode_version) {
  const auto point = static_cast<UChar32>(c);
  if ((U_GET_GC_MASK(point) & mask) == 0) return false;
  if (c < 0x80) return true;
  UVersionInfo age;
  u_charAge(point, age);
  return age[0] <= unicode_version;
}

bool is_white_space(char32_t c) {
  return u_isUWhiteSpace(static_cast<UChar32>(c)) != 0;
}

std::ptrdiff_t terminal_columns(char32_t c) {
  const auto code = static_cast<UChar32>(c);
  if ((U_GET_GC_MASK(code) & (U_GC_MN_MASK | U_GC_ME_MASK | U_GC_CF_MASK)) != 0) return 0;
  const int width = u_getIntPropertyValue(code, UCHAR_EAST_ASIAN_WIDTH);
  return width == U_EA_WIDE || width == U_EA_FULLWIDTH ? 2 : 1;
}

bool is_word_character(char32_t c) {
  const auto point = static_cast<UChar32>(c);
  constexpr std::uint32_t classes = U_GC_M_MASK | U_GC_ND_MASK | U_GC_PC_MASK;
  return (U_GET_GC_MASK(point) & classes) != 0 || u_isUAlphabetic(point) != 0 ||
         u_hasBinaryProperty(point, UCHAR_JOIN_CONTROL) != 0;
}

}  // namespace headwave
