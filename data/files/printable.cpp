#include "printable.h"

namespace headwave {

std::string printable(std::string_view text, std::size_t longest) {
  std::string shown(text.substr(0, longest));
  for (char& c : shown)
    if (c < ' ' || c > '~') c = '?';
  if (text.size() > longest) shown += "...";
  return shown;
}

std::string shown_path(const std::filesystem::path& path) {
  return printable(path.string(), 400);
}

}  // namespace headwave
