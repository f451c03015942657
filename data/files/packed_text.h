#pragma once

#include <string>
#include <string_view>

namespace headwave {

/// Bytes packed with zlib (RFC 1950) and written as base64 (RFC 4648, section 4, with padding), for places
/// that hold nothing but text. Browsers can undo both.
/// @returns letters, digits, +, / and =, without line ends
std::string packed_text(std::string_view bytes);

}  // namespace headwave
