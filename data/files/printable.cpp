#include "printable.h"

#include <fmt/format.h>

namespace headwave {

std::string printable(std::string_view text, std::size_t longest) {
  std::string shown;
  for (const char c : text.substr(0, longest)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < ' ' || byte == 0x7F)
      shown += fmt::format("\\u{:04x}", static_cast<unsigned>(byte));
    else
      shown += byte < 0x7F ? c : '?';
  }
  if (text.size() > longest) shown += "...";
  return shown;
}

std::string shown_path(const std::filesystem::path& path) {
  return printable(path.string(), 400);
}

}  // namespace headwave
