#include "byte_alphabet.h"

#include <array>
#include <cstddef>
#include <cstdint>

#include <fmt/format.h>
#include <unicode/utf8.h>

#include "../files/unicode_text.h"

namespace headwave {

namespace {

struct Alphabet {
  std::array<std::string, 256> letter;
  std::array<int, 0x180> byte{};  // -1: no letter

  Alphabet() {
    byte.fill(-1);
    char32_t next = 0x100;
    for (unsigned b = 0; b < 256; ++b) {
      const bool is_printable = (b >= '!' && b <= '~') || (b >= 0xA1 && b <= 0xAC) || b >= 0xAE;
      const char32_t c = is_printable ? b : next++;
      append_utf8(letter[b], c);
      byte[c] = static_cast<int>(b);
    }
  }
};

const Alphabet& alphabet() {
  static const Alphabet letters;
  return letters;
}

}  // namespace

std::string spelled_in_byte_alphabet(std::string_view bytes) {
  const auto& letter = alphabet().letter;
  std::string spelled;
  spelled.reserve(bytes.size() + bytes.size() / 2);
  for (const char b : bytes) spelled += letter[static_cast<unsigned char>(b)];
  return spelled;
}

std::optional<std::string> bytes_spelled(std::string_view piece) {
  const auto& byte = alphabet().byte;
  std::string bytes;
  for (std::size_t at = 0; at < piece.size(); at += utf8_length(piece[at])) {
    const char32_t c = code_point(piece, at);
    if (c >= byte.size() || byte[c] < 0) return std::nullopt;
    bytes += static_cast<char>(static_cast<unsigned char>(byte[c]));
  }
  return bytes;
}

std::string readable_bytes(std::string_view bytes) {
  const auto* raw = reinterpret_cast<const std::uint8_t*>(bytes.data());
  const auto size = static_cast<std::int32_t>(bytes.size());
  std::string readable;
  for (std::int32_t at = 0; at < size;) {
    const std::int32_t begin = at;
    UChar32 c = 0;
    U8_NEXT(raw, at, size, c);
    for (std::int32_t i = begin; i < at; ++i) {
      if (c >= 0)
        readable += bytes[static_cast<std::size_t>(i)];
      else
        readable += fmt::format("<0x{:02X}>", raw[i]);
    }
  }
  return readable;
}

std::string readable_spelling(std::string_view piece) {
  const auto bytes = bytes_spelled(piece);
  return bytes ? readable_bytes(*bytes) : std::string(piece);
}

}  // namespace headwave
