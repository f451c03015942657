#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace headwave {

/// Takes an element of an object or list, with its key, which is empty in a list. If a key occurs twice, both
/// elements are given.
using JsonTaker = std::function<void(const std::string& key, const nlohmann::json& value)>;

/// Limits on a JSON text. A value takes up to a hundred times the memory of its text, so long containers are
/// taken element by element, and the number of other values is limited.
struct JsonOptions {
  std::size_t max_bytes = std::size_t{256} << 20U;  ///< larger files are refused before they are read
  std::size_t most_values = 1U << 18U;              ///< in what is returned, and in each element that a taker gets
  /// Containers whose elements go to a taker and that are empty in what is returned, by the keys that lead to
  /// them: {"model", "vocab"}; {} is the whole text.
  std::map<std::vector<std::string>, JsonTaker> takers = {};
};

/// Reads a JSON file.
///
/// Stricter than common readers, which may read another value than the one that was written: a key that
/// occurs twice in an object, comments, text after the value, NaN and invalid UTF-8 are errors. A UTF-8
/// byte-order mark is skipped. Arrays and objects nest at most 100 deep.
///
/// Source: RFC 8259.
/// @throws IoError if the file cannot be read; FormatError if it is too large, or not JSON as above, with the
///         byte position; what a taker throws
nlohmann::json json_of_file(const std::filesystem::path& path, const JsonOptions& options = {});

/// The same for a text in memory.
/// @param name  what messages call the text: a file's path
/// @throws FormatError as above
nlohmann::json json_of_text(std::string_view text, const std::string& name, const JsonOptions& options = {});

/// Reports a key that occurs twice in an object: for takers, who see every key.
/// @throws FormatError always
[[noreturn]] void refuse_second_key(const std::string& name, const std::string& key);

}  // namespace headwave
