#pragma once

#include <string>
#include <string_view>

#include "../../core/numbers/matrix.h"

namespace headwave {

/// Makes a text safe to show: turns any bytes into valid UTF-8 on one line, without invisible characters.
///
/// Line ends, tabs and other control characters become \n, \t, \u001b. Characters that set the direction or
/// joining of text become escapes such as \u202e. Bytes that are not UTF-8 become \xff. Spaces at either end
/// become the open box (U+2423), because a leading space is part of many tokens. Everything else, backslashes
/// included, stays as it is, because the result is for people, not for parsing.
/// @param text  any bytes: a token, a path, a name
std::string visible_text(std::string_view text);

/// The number of columns that UTF-8 text takes on a terminal: 2 for East Asian wide characters and emoji, 0
/// for combining marks, 1 for other characters and for bytes that are not UTF-8.
Index display_width(std::string_view text);

/// Shortens a text to at most `width` columns by replacing its end with an ellipsis. A text that fits stays
/// as it is. Combining marks stay with their character.
/// @param text   UTF-8
/// @param width  largest width in columns, at least 1
std::string shortened(std::string_view text, Index width);

/// Width of a line on the terminal, in columns. Sentences are broken at it, and the short table fits into it.
constexpr Index terminal_width = 100;

/// Breaks a text into lines at spaces.
/// @param width   width of a line, in columns
/// @param column  column at which the text begins on its first line
/// @param indent  text before every other line, as wide as `column`
std::string wrapped_text(const std::string& text, Index width = terminal_width, Index column = 0,
                         const std::string& indent = "");

void replace_all(std::string& text, std::string_view old, std::string_view by);

/// Makes HTML content or an attribute value of a text: visible_text() with & < > " ' as entities.
std::string html_text(std::string_view text);

}  // namespace headwave
