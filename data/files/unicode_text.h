#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace headwave {

/// Replaces every ill-formed byte sequence by U+FFFD: one U+FFFD for the longest incomplete beginning of a
/// character, and one for any other byte. Rust's from_utf8_lossy and section 3.9 of Unicode do the same.
/// @param text  at most 1 GiB
/// @throws ShapeError if the text is longer
std::string valid_utf8(std::string_view text);

/// Whether a text is well-formed UTF-8.
bool is_valid_utf8(std::string_view text);

/// The position of the first ill-formed byte, in a text of any length; npos if there is none.
std::size_t ill_formed_utf8(std::string_view text);

/// Number of bytes of the character that begins with this byte in a well-formed text.
inline std::size_t utf8_length(char first) {
  const auto byte = static_cast<unsigned char>(first);
  return byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

/// The length of a text in bytes without an incomplete last character. The rest must be well-formed.
std::size_t whole_characters(std::string_view text);

/// A text without its UTF-8 byte-order mark, if it has one.
std::string_view without_byte_order_mark(std::string_view text);

/// The code point at byte `at` < text.size() of a well-formed text.
char32_t code_point(std::string_view text, std::size_t at);

/// The last code point of a well-formed text that is not empty.
char32_t last_code_point(std::string_view text);

/// Appends a code point to a text.
void append_utf8(std::string& text, char32_t c);

/// Whether a character has a general category in `mask` (ICU's U_GC_..._MASK) and exists in the given version
/// of Unicode. Each tokenizer needs the version for which it was written.
bool has_category(char32_t c, std::uint32_t mask, int unicode_version);

/// Whether a character has Unicode's property White_Space.
bool is_white_space(char32_t c);

/// A character's columns in a terminal: 2 if wide, 0 for combining marks and format characters, else 1.
std::ptrdiff_t terminal_columns(char32_t c);

/// Whether `\w` in a Unicode regular expression matches: a letter, mark, digit, connector or joiner.
///
/// Source: Unicode Technical Standard 18, annex C.
bool is_word_character(char32_t c);

}  // namespace headwave
