#pragma once

// Included by sources that read TOML, never by a header that others see.

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

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

/// A value in a file of settings.
using Setting = std::variant<bool, std::int64_t, double, std::string, std::vector<std::string>>;

/// Settings by name.
using Settings = std::map<std::string, Setting>;

/// Settings as a TOML file: a line for each, `documents = 50`, in the order of their names, without a last
/// line end.
///
/// Numbers have the shortest digits that give the same double, with a point or an exponent: 0.05, 3.0.
std::string toml_text(const Settings& settings);

}  // namespace headwave
