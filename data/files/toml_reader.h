#pragma once

// Included by sources that read TOML, never by a header that others see.

#include <filesystem>
#include <string_view>

#define TOML_EXCEPTIONS 1
#include <toml++/toml.h>

namespace headwave {

/// Parses a small TOML file.
/// @param what  its kind in messages: "a model map"
/// @throws IoError if it cannot be read; FormatError naming the line if it is not TOML, or if it is larger than 1 MB
toml::table toml_of_file(const std::filesystem::path& file, std::string_view what);

/// Parses the text of such a file.
/// @throws FormatError as above
toml::table toml_of_text(const std::filesystem::path& file, std::string_view text);

}  // namespace headwave
