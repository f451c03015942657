#pragma once

// Included only by sources that read TOML, and by resolved_map.h.

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

/// Parses a TOML file of at most 1 MB.
/// @param what  what messages call such a file: "a model map"
/// @throws IoError if the file cannot be read; FormatError if it is too large, or not TOML, with the line
toml::table toml_of_file(const std::filesystem::path& file, std::string_view what);

/// The same for the text of a file.
toml::table toml_of_text(const std::filesystem::path& file, std::string_view text);

/// A value in a settings file.
using Setting = std::variant<bool, std::int64_t, double, std::string, std::vector<std::string>>;

using Settings = std::map<std::string, Setting>;

/// Settings as TOML, one per line in the order of their names, `documents = 50`, without a last line end.
/// Doubles have the shortest digits that give the same value, with a point or an exponent: 0.05, 3.0.
std::string toml_text(const Settings& settings);

}  // namespace headwave
