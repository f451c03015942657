#pragma once

#include <string>
#include <string_view>

namespace headwave {

/// Bytes as a text for places that hold nothing but text: packed with zlib (RFC 1950), then written as base64 (RFC 4648,
/// section 4, with padding), which browsers can undo by themselves.
/// @returns letters, digits, + / and = alone, without line ends
std::string packed_text(std::string_view bytes);

}  // namespace headwave
