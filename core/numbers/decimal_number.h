#pragma once

#include <optional>
#include <string_view>

namespace headwave {

/// Parses a decimal number in the C locale: "12", "-0.5", ".5", "1e-3". Returns no value for any other text
/// ("+1", " 1", "1,5", "0x1", "inf", "1 MB") and for numbers that are too large. It replaces std::from_chars,
/// which libc++ lacks for real numbers.
std::optional<double> decimal_number(std::string_view text);

}  // namespace headwave
