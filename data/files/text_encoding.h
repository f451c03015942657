#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "../../core/numbers/matrix.h"

namespace headwave {

/// Whether an encoding goes by this name: "UTF-16", "windows-1251", "latin1", "Shift_JIS", in any spelling that ICU
/// knows.
bool is_encoding(const std::string& name);

/// What messages say beside what came.
struct WantedText {
  std::string name;  ///< what the text is called: a file's path
  std::string_view expected = "text in UTF-8";
  std::string_view advice = {};  ///< what to do; empty: give the option `encoding`
};

/// Refuses what is not a text in UTF-8: an ill-formed byte, or a NUL, which stands in files and never in texts.
/// @throws FormatError with the first bad byte, its line (from 1) and its offset in bytes (from 0), what the whole is
///         where that can be told, or else the advice
void require_utf8(std::string_view bytes, const WantedText& wanted);

/// A text of another encoding, as UTF-8.
struct DecodedText {
  std::string text;
  std::size_t bytes = 0;  ///< how many were decoded
  Index characters = 0;   ///< of those bytes
  Index replaced = 0;     ///< how many of them are U+FFFD, since what stood there was no character or a NUL
};

/// Decodes a text, whatever it takes: each byte sequence that is no character of the encoding, and each NUL, becomes
/// U+FFFD. A byte-order mark is left out.
/// @param enough  the text is decoded to the first line end after so many bytes of UTF-8, or, where no line ends, to
///                some character after twice as many, or to the end
/// @throws FormatError if the encoding is not known, or has its bytes in either order and the text begins with no mark
DecodedText decoded_text(std::string_view bytes, const std::string& encoding, std::size_t enough);

}  // namespace headwave
