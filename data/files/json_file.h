#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace headwave {

/// The JSON value that a file holds.
///
/// Strict where common readers are lenient, because a reader that guesses reads a different file than the one that was
/// written: a key that occurs twice in an object, comments, text after the value, NaN and invalid UTF-8 are errors. A
/// UTF-8 byte-order mark is skipped. Arrays and objects nest at most 100 deep.
///
/// Source: RFC 8259.
/// @param max_bytes  files beyond this size are refused before they are read
/// @throws IoError if the file cannot be read; FormatError if it is too large or not JSON as above, with the byte
/// position
nlohmann::json json_of_file(const std::filesystem::path& path, std::size_t max_bytes = std::size_t{256} << 20U);

/// The same for a text in memory.
/// @param name  what messages call the text: a file's path
/// @throws FormatError as above
nlohmann::json json_of_text(std::string_view text, const std::string& name);

}  // namespace headwave
