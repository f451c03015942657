#pragma once

#include <string>
#include <string_view>

#include "../../core/numbers/matrix.h"

namespace headwave {

/// Makes a text safe to show: any bytes become valid UTF-8 on one line, without invisible characters.
///
/// Line ends, tabs and other control characters become \n, \t, \u001b; characters that steer the direction or joining of
/// text become \u202e; bytes that are no UTF-8 become \xff; spaces at either end become the open box (U+2423), since a
/// leading space is part of many tokens. Everything else, backslashes included, stays as it is: the result is for people,
/// not for parsing.
/// @param text  a token, a path, a name, from anywhere
std::string visible_text(std::string_view text);

/// How many columns a terminal gives a text: 2 for East Asian wide characters and emoji, 0 for combining marks, else 1.
/// @param text  UTF-8; other bytes count as one column each
Index display_width(std::string_view text);

/// The text itself if it fits, else its beginning and an ellipsis, `width` columns together. Combining marks stay with
/// the character they belong to.
/// @param text   UTF-8
/// @param width  columns, at least 1
std::string shortened(std::string_view text, Index width);

/// Columns of a line on the terminal: tables and sentences are no wider.
constexpr Index terminal_width = 100;

/// Breaks a text into lines at spaces.
/// @param width   of a line, in columns
/// @param column  where the first line begins; the other lines begin there too
/// @param indent  the space before the other lines
std::string wrapped_text(const std::string& text, Index width = terminal_width, Index column = 0,
                         const std::string& indent = "");

/// Replaces every occurrence of a part of a text.
void replace_all(std::string& text, std::string_view old, std::string_view by);

/// A text as HTML content or attribute value: visible_text() with & < > " ' written as entities.
std::string html_text(std::string_view text);

}  // namespace headwave
