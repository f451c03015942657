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
/// @throws IoError if the file cannot be read; FormatError if it is too large, or not TOML (naming the line)
toml::table toml_of_file(const std::filesystem::path& file, std::string_view what);

/// Parses the text of a TOML file.
toml::table toml_of_text(const std::filesystem::path& file, std::string_view text);

/// A value in a settings file.
using Setting = std::variant<bool, std::int64_t, double, std::string, std::vector<std::string>>;

using Settings = std::map<std::string, Setting>;

/// Writes settings as TOML, one per line in the order of names, such as `documents = 50`. The last line has
/// no line end. Doubles have the fewest digits that give the same value, and a point or exponent: 0.05, 3.0.
std::string toml_text(const Settings& settings);

}  // namespace headwave
