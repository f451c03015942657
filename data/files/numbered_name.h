#pragma once

#include <string_view>

namespace headwave {

/// Whether a name is the pattern with a number in digits for each '#': "block-#-of-#.part". What is taken for a file of
/// ours, and removed, has all of such a name.
bool is_numbered_name(std::string_view name, std::string_view pattern);

}  // namespace headwave
