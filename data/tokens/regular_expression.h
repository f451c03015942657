#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace headwave {

/// A range of bytes of a text: begin <= byte < end.
struct TextRange {
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// Finds ranges in well-formed UTF-8, in order and without overlap. May be called from several threads at
/// once.
using TextFinder = std::function<std::vector<TextRange>(std::string_view)>;

/// Finds the matches of a regular expression as Hugging Face's `tokenizers` does: Oniguruma runs it, with
/// Ruby's syntax over UTF-8. An empty match counts, except where the match before it ended.
///
/// @param place  what messages call it
/// @throws FormatError if it does not compile; when used, if a match takes more steps than the library allows
TextFinder regular_expression(std::string_view ruby, const std::string& place);

/// Finds a string.
/// @param text  an empty one finds nothing
TextFinder fixed_string(std::string text);

/// Finds single characters.
TextFinder single_character(bool (*wanted)(char32_t));

}  // namespace headwave
