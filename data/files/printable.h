#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace headwave {

/// A text from a file, fit to stand in a one-line message: control characters become \u001b, non-ASCII bytes '?', and what
/// is beyond `longest` bytes becomes "...". Names in files are anybody's writing: they may hold line ends or terminal commands.
std::string printable(std::string_view text, std::size_t longest = 100);

/// A file's name as messages begin with it.
std::string shown_path(const std::filesystem::path& path);

}  // namespace headwave
