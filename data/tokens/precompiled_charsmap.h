#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "normalizer.h"

namespace headwave {

/// SentencePiece's table of characters and what becomes of them: a double array over the bytes of keys, and the texts that
/// keys become, each ended by a NUL. Nothing of it is believed: what leads out of the table is an error when it is met.
///
/// Source: Kudo and Richardson 2018, section 3.3; Yata, Oono, Morita, Fuketa, Sumitomo and Aoe 2007 (double arrays).
class PrecompiledCharsmap {
 public:
  struct Match {
    std::size_t length = 0;    ///< bytes of the text that the key has
    std::string_view becomes;  ///< lies in the table
  };

  /// @param bytes  the length of the array in bytes (4, little-endian), the array, the texts
  /// @param place  what messages call it
  /// @throws FormatError if the array does not fit in, or the texts are not UTF-8
  PrecompiledCharsmap(std::string_view bytes, std::string place);

  /// The shortest key that begins a text.
  /// @throws FormatError if the table leads out of itself, as below
  [[nodiscard]] std::optional<Match> shortest(std::string_view text) const;

  /// The longest key that begins a text.
  [[nodiscard]] std::optional<Match> longest(std::string_view text) const;

 private:
  [[nodiscard]] std::uint32_t unit(std::size_t at) const;
  [[nodiscard]] std::optional<Match> found(std::string_view text, bool longest) const;

  std::vector<std::uint32_t> units_;
  std::string texts_;
  std::string place_;
};

/// Every grapheme becomes what the table says as Hugging Face's `tokenizers` reads it: a grapheme of less than 6 bytes
/// becomes what its shortest key does; if it has none, and in longer ones, that goes for its characters.
/// @param base64  the table
/// @throws FormatError if that is no base64, or broken
Normalizer precompiled_normalizer(std::string_view base64, const std::string& place);

}  // namespace headwave
