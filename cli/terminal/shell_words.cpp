#include "shell_words.h"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace headwave::cli {

std::string single_quoted(const std::string& text, const std::string& escaped, const std::string& apostrophe) {
  std::string out = "'";
  for (const char c : text) {
    if (escaped.find(c) != std::string::npos) out += '\\';
    out += c == '\'' ? apostrophe : std::string(1, c);
  }
  return out + "'";
}

std::string shell_word(const std::string& word) {
  const auto is_plain = [](unsigned char c) {
    return std::isalnum(c) != 0 || c >= 0x80 ||
           std::string_view("%+,-./:=@_").find(static_cast<char>(c)) != std::string_view::npos;
  };
  return !word.empty() && std::ranges::all_of(word, is_plain) ? word : single_quoted(word, "", "'\\''");
}

}  // namespace headwave::cli
