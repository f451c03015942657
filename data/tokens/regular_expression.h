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

/// Finds ranges in well-formed UTF-8, in order and without overlap. Several threads may call it at once.
using TextFinder = std::function<std::vector<TextRange>(std::string_view)>;

/// Finds the matches of a regular expression as Hugging Face's `tokenizers` does, with Oniguruma and Ruby's
/// syntax for UTF-8. An empty match counts unless the match before it ended at the same place.
/// @param place  what messages call the expression
/// @throws FormatError if it does not compile. The finder throws FormatError if a match takes too many steps
TextFinder regular_expression(std::string_view ruby, const std::string& place);

/// Finds every occurrence of a string. An empty string is never found.
TextFinder fixed_string(std::string text);

/// Finds every character for which `wanted` holds.
TextFinder single_character(bool (*wanted)(char32_t));

}  // namespace headwave
