#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace headwave {

/// The byte alphabet spells each of the 256 bytes as one visible character: printable bytes of Latin-1 as themselves,
/// the other 68, in order, as U+0100 and on: a blank is U+0120. So a vocabulary of text can hold any bytes.
///
/// Source: Radford et al. 2019, the released encoder.
/// @returns the characters of the bytes, one after another
std::string spelled_in_byte_alphabet(std::string_view bytes);

/// The bytes that a piece spells; nothing if one of its characters is no letter of the alphabet.
/// @param piece  well-formed UTF-8
std::optional<std::string> bytes_spelled(std::string_view piece);

/// Bytes as a person can read them: well-formed UTF-8 as it is, any other byte as "<0xE3>".
std::string readable_bytes(std::string_view bytes);

}  // namespace headwave
