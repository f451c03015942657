#pragma once

#include <string>
#include <string_view>

namespace headwave {

/// A regular expression of Oniguruma's Ruby syntax, as PCRE2 writes it: what regular_expression() reads.
/// @param place  what messages call it
/// @throws FormatError if some piece of it is not known, or could mean something else there
std::string pcre2_of_ruby(std::string_view ruby, const std::string& place);

}  // namespace headwave
