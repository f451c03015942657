#pragma once

#include <optional>
#include <string_view>

#include "../numbers/matrix.h"

namespace headwave {

/// N of "strongest:N", which stands among names of heads for the N strongest heads of a result.
/// @returns nothing for other words
/// @throws FormatError if N is not a whole number above 0
std::optional<Index> strongest_count(std::string_view text);

}  // namespace headwave
