#pragma once

#include <string>
#include <string_view>

namespace headwave {

/// Packs bytes with zlib (RFC 1950) and writes them as padded base64 (RFC 4648, section 4), for places that
/// hold only text. Browsers can undo both.
/// @returns letters, digits, +, / and =, without line ends
std::string packed_text(std::string_view bytes);

}  // namespace headwave
