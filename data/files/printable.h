#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace headwave {

/// Text from a file, made safe for a one-line message: control characters become escapes such as \u001b,
/// non-ASCII bytes become '?', and "..." replaces all bytes after the first `longest`.
std::string printable(std::string_view text, std::size_t longest = 100);

/// A file's path as messages show it.
std::string shown_path(const std::filesystem::path& path);

}  // namespace headwave
