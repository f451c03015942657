#pragma once

#include <string>

namespace headwave {

/// A zip archive's first header, as far as it says the member's name.
inline std::string zip_of(const std::string& member) {
  std::string header("PK\x03\x04", 4);
  header.resize(26, '\0');
  header += static_cast<char>(member.size());
  header += std::string(3, '\0');
  return header + member;
}

}  // namespace headwave
