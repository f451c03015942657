#include "numbered_name.h"

#include <algorithm>

namespace headwave {

bool is_numbered_name(std::string_view name, std::string_view pattern) {
  for (const char expected : pattern) {
    const std::size_t digits = std::min(name.find_first_not_of("0123456789"), name.size());
    if (expected == '#' ? digits == 0 : !name.starts_with(expected)) return false;
    name.remove_prefix(expected == '#' ? digits : 1);
  }
  return name.empty();
}

}  // namespace headwave
