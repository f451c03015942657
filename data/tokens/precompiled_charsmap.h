#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "normalizer.h"

namespace headwave {

/// SentencePiece's table of what characters become: a double array over the bytes of keys, and the texts that
/// keys become, each ended by a NUL. The table may be damaged: a lookup that leads out of it is an error.
///
/// Source: Kudo and Richardson 2018, section 3.3; Yata, Oono, Morita, Fuketa, Sumitomo and Aoe 2007 (double
/// arrays).
class PrecompiledCharsmap {
 public:
  struct Match {
    std::size_t length = 0;    ///< bytes of the key
    std::string_view becomes;  ///< points into the table
  };

  /// @param bytes  the length of the array in bytes (4, little-endian), the array, the texts
  /// @param place  what messages call it
  /// @throws FormatError if the array is longer than the bytes, or the texts are not UTF-8
  PrecompiledCharsmap(std::string_view bytes, std::string place);

  /// The shortest key that a text begins with.
  /// @throws FormatError if the lookup leads out of the table
  [[nodiscard]] std::optional<Match> shortest(std::string_view text) const;

  /// The longest key that a text begins with.
  /// @throws FormatError as shortest()
  [[nodiscard]] std::optional<Match> longest(std::string_view text) const;

 private:
  [[nodiscard]] std::uint32_t unit(std::size_t at) const;
  [[nodiscard]] std::optional<Match> found(std::string_view text, bool longest) const;

  std::vector<std::uint32_t> units_;
  std::string texts_;
  std::string place_;
};

/// Replaces graphemes as Hugging Face's `tokenizers` does: a grapheme of less than 6 bytes becomes what its
/// shortest key becomes. Where it has no key, and in longer graphemes, this is done character by character.
/// @param base64  the table
/// @throws FormatError if it is not base64, or damaged
Normalizer precompiled_normalizer(std::string_view base64, const std::string& place);

}  // namespace headwave
