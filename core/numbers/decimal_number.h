#pragma once

#include <optional>
#include <string_view>

namespace headwave {

/// The number that a text is, in the C locale: "12", "-0.5", ".5", "1e-3". Nothing if the text is anything else ("+1", " 1",
/// "1,5", "0x1", "inf", "1 MB") or too large. (std::from_chars, which libc++ lacks for real numbers.)
std::optional<double> decimal_number(std::string_view text);

}  // namespace headwave
