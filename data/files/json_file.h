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

/// What is to be done with an element of an object or list: it comes with its key, which is empty in a list. Of two
/// equal keys both come.
using JsonTaker = std::function<void(const std::string& key, const nlohmann::json& value)>;

/// How much of a JSON text is read, and how. A value takes up to a hundred times the room of its text, so what may be
/// long is taken element by element, and of the rest there is an end.
struct JsonOptions {
  std::size_t max_bytes = std::size_t{256} << 20U;  ///< of a file: larger ones are refused before they are read
  std::size_t most_values = 1U << 18U;              ///< kept, and as many in one element that is handed on
  /// Containers that are handed on element by element, and stay empty in what is returned: the keys that lead there,
  /// {"model", "vocab"}; {} is the whole.
  std::map<std::vector<std::string>, JsonTaker> takers = {};
};

/// The JSON value that a file holds.
///
/// Strict where common readers are lenient, because a reader that guesses reads a different file than the one that was
/// written: a key that occurs twice in an object, comments, text after the value, NaN and invalid UTF-8 are errors. A
/// UTF-8 byte-order mark is skipped. Arrays and objects nest at most 100 deep.
///
/// Source: RFC 8259.
/// @throws IoError if the file cannot be read; FormatError if it is too large, or not JSON as above, with the byte
/// position; what a taker throws
nlohmann::json json_of_file(const std::filesystem::path& path, const JsonOptions& options = {});

/// The same for a text in memory.
/// @param name  what messages call the text: a file's path
/// @throws FormatError as above
nlohmann::json json_of_text(std::string_view text, const std::string& name, const JsonOptions& options = {});

/// What is said of a key that stands twice in an object: for takers, who see every key.
/// @throws FormatError always
[[noreturn]] void refuse_second_key(const std::string& name, const std::string& key);

}  // namespace headwave
