#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace headwave {

/// A stretch of a text, in bytes: begin <= its bytes < end.
struct TextRange {
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// Finds stretches in a well-formed text: in order, none overlapping. May be called from several threads at once.
using TextFinder = std::function<std::vector<TextRange>(std::string_view)>;

/// What a regular expression finds, as Hugging Face's `tokenizers` reads it: in Oniguruma's Ruby syntax over Unicode, where
/// \s is White_Space, \d is Nd, \w is of Unicode Technical Standard 18, and ^ and $ know lines. PCRE2 runs it; what could mean
/// something else there is refused by name: \b, \h, \R, back references, named groups, options within, POSIX brackets, &&.
///
/// An empty match counts, except where the match before ended.
///
/// @param ruby   at most 16 KiB
/// @param place  what messages call it
/// @throws FormatError if it is refused, or does not compile; when used, if one match takes more than a million steps
TextFinder regular_expression(std::string_view ruby, const std::string& place);

/// Finds a string.
/// @param text  empty finds nothing
TextFinder fixed_string(std::string text);

/// Finds single characters.
TextFinder single_character(bool (*wanted)(char32_t));

}  // namespace headwave
