#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace headwave {

/// Spells bytes in the byte alphabet, one visible character each, so that a vocabulary of text can hold any
/// bytes: printable bytes of Latin-1 are themselves, the other 68, in order, are U+0100 and so on. A blank is
/// U+0120.
///
/// Source: Radford et al. 2019, the released encoder.
std::string spelled_in_byte_alphabet(std::string_view bytes);

/// The bytes that a piece spells; nothing if one of its characters is not in the alphabet.
/// @param piece  well-formed UTF-8
std::optional<std::string> bytes_spelled(std::string_view piece);

/// Bytes as a person can read them: well-formed UTF-8 as it is, any other byte as "<0xE3>".
std::string readable_bytes(std::string_view bytes);

/// The readable bytes that a piece spells; any other piece unchanged.
std::string readable_spelling(std::string_view piece);

}  // namespace headwave
