#pragma once

#include <string>

namespace headwave::cli {

/// A text within single quotes, which every shell ends in its own way.
/// @param escaped     characters that get a backslash
/// @param apostrophe  what stands for '
std::string single_quoted(const std::string& text, const std::string& escaped, const std::string& apostrophe);

/// A word as the POSIX shells take it for one: quoted where it has to be.
std::string shell_word(const std::string& word);

}  // namespace headwave::cli
