#include "toml_reader.h"

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

}  // namespace

toml::table toml_of_file(const std::filesystem::path& file, std::string_view what) {
  const FileBytes bytes(file);
  if (bytes.size() > largest_file)
    throw FormatError(fmt::format("{}: {} bytes, expected {} of at most 1 MB", shown_path(file), bytes.size(), what));
  return toml_of_text(file, bytes.text(0, bytes.size()));
}

toml::table toml_of_text(const std::filesystem::path& file, std::string_view text) {
  try {
    return toml::parse(text);
  } catch (const toml::parse_error& error) {
    throw FormatError(fmt::format("{}: line {}: {}", shown_path(file), error.source().begin.line,
                                  printable(std::string(error.description()), 120)));
  }
}

}  // namespace headwave
