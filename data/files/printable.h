#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace headwave {

/// A text from a file, made fit for a one-line message: control characters become \u001b, non-ASCII bytes
/// '?', and bytes after the first `longest` "...". Names in files may hold line ends or terminal commands.
std::string printable(std::string_view text, std::size_t longest = 100);

/// A file's path as messages show it.
std::string shown_path(const std::filesystem::path& path);

}  // namespace headwave
