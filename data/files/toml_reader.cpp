#include "toml_reader.h"

#include <algorithm>
#include <cstddef>
#include <string>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "file_bytes.h"
#include "printable.h"

namespace headwave {

namespace {

/// Settings fit on a page; a longer file is of another kind.
constexpr std::size_t largest_file = 1 << 20;

/// A dotted key is as many nested tables as it has parts, which the parser destroys recursively: some ten thousand
/// overflow the stack.
void require_shallow_keys(const std::filesystem::path& file, std::string_view text) {
  constexpr std::ptrdiff_t most_dots = 1000;
  for (std::size_t begin = 0, number = 1; begin < text.size(); ++number) {
    const std::string_view line = text.substr(begin, text.find('\n', begin) - begin);
    if (const auto dots = std::ranges::count(line, '.'); dots > most_dots)
      throw FormatError(fmt::format("{}: line {}: {} dots, expected at most {}: names of so many parts are not read",
                                    shown_path(file), number, dots, most_dots));
    begin += line.size() + 1;
  }
}

}  // namespace

toml::table toml_of_file(const std::filesystem::path& file, std::string_view what) {
  const FileBytes bytes(file);
  if (bytes.size() > largest_file)
    throw FormatError(fmt::format("{}: {} bytes, expected {} of at most 1 MB", shown_path(file), bytes.size(), what));
  return toml_of_text(file, bytes.text(0, bytes.size()));
}

toml::table toml_of_text(const std::filesystem::path& file, std::string_view text) {
  require_shallow_keys(file, text);
  try {
    return toml::parse(text);
  } catch (const toml::parse_error& error) {
    throw FormatError(fmt::format("{}: line {}: {}", shown_path(file), error.source().begin.line,
                                  printable(std::string(error.description()), 120)));
  }
}

}  // namespace headwave
