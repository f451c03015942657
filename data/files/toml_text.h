#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace headwave {

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
