#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace headwave {

/// A text with every ill-formed byte sequence replaced by U+FFFD: one for the longest prefix of a character,
/// otherwise one for each byte, as Rust's from_utf8_lossy does and section 3.9 of the Unicode standard
/// recommends.
/// @param text  at most 1 GiB
/// @throws ShapeError if it is longer
std::string valid_utf8(std::string_view text);

/// Whether a text is well-formed UTF-8.
bool is_valid_utf8(std::string_view text);

/// The position of the first ill-formed byte of a text of any length; npos if there is none.
std::size_t ill_formed_utf8(std::string_view text);

/// Bytes of the character that begins with this byte; the text must be well-formed.
inline std::size_t utf8_length(char first) {
  const auto byte = static_cast<unsigned char>(first);
  return byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

/// The number of bytes up to the last character that is complete, of a well-formed text that may be cut
/// within a character.
std::size_t whole_characters(std::string_view text);

/// A text in UTF-8 without its byte-order mark, if it has one.
std::string_view without_byte_order_mark(std::string_view text);

/// The code point at position `at` of a well-formed text; at < text.size().
char32_t code_point(std::string_view text, std::size_t at);

/// The last code point of a well-formed text that is not empty.
char32_t last_code_point(std::string_view text);

/// Appends a code point to a text.
void append_utf8(std::string& text, char32_t c);

/// Whether a character has one of the general categories of `mask` (ICU's U_GC_..._MASK) and exists in that
/// version of Unicode: tokenizers keep the tables they were written with.
bool has_category(char32_t c, std::uint32_t mask, int unicode_version);

/// Whether Unicode calls it White_Space.
bool is_white_space(char32_t c);

/// Columns that a terminal gives a character: 2 for wide ones, 0 for marks that combine, else 1.
std::ptrdiff_t terminal_columns(char32_t c);

/// Whether it is a letter, mark, digit or connector: what `\w` means in a Unicode regular expression.
///
/// Source: Unicode Technical Standard 18, annex C.
bool is_word_character(char32_t c);

}  // namespace headwave
