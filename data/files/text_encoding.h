#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "../../core/numbers/matrix.h"

namespace headwave {

/// Whether ICU knows an encoding of this name: "UTF-16", "windows-1251", "latin1", "Shift_JIS", in any
/// spelling.
bool is_encoding(const std::string& name);

/// The wording of messages about a text.
struct WantedText {
  std::string name;  ///< the text's name: a file's path
  std::string_view expected = "text in UTF-8";
  std::string_view advice = {};  ///< what to do; empty: give the option `encoding`
};

/// Refuses bytes that are not a text in UTF-8: an ill-formed byte, or a NUL.
/// @throws FormatError with the first bad byte, its line (from 1) and offset in bytes (from 0), and the file
///         format if it is known, otherwise what to do
void require_utf8(std::string_view bytes, const WantedText& wanted);

/// A text of another encoding, as UTF-8.
struct DecodedText {
  std::string text;
  std::size_t bytes = 0;  ///< number of bytes that were decoded
  Index characters = 0;   ///< number of characters in them
  Index replaced = 0;     ///< number of characters that became U+FFFD: invalid sequences and NULs
};

/// Decodes a text: each byte sequence that is not a character of the encoding, and each NUL, becomes U+FFFD.
/// A byte-order mark is skipped.
/// @param enough  decode to the first line end after so many bytes of UTF-8, to some character after twice as
///                many if no line ends, or to the end
/// @throws FormatError if the encoding is not known, or needs a byte-order mark and the text has none
DecodedText decoded_text(std::string_view bytes, const std::string& encoding, std::size_t enough);

}  // namespace headwave
