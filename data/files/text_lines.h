#pragma once

#include <algorithm>
#include <string_view>

namespace headwave {

/// Calls `visit` for every line of a text, without its line end "\n" or "\r\n". No empty line follows a last
/// line end.
template <class Visit>
void each_line(std::string_view text, const Visit& visit) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    visit(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

}  // namespace headwave
