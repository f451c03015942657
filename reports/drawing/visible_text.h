#pragma once

#include <string>
#include <string_view>

#include "../../core/numbers/matrix.h"

namespace headwave {

/// A text fit to be looked at: whatever bytes come in, valid UTF-8 on one line comes out, and nothing in it is
/// invisible.
///
/// Line ends, tabs and other control characters become \n, \t, \u001b; characters that steer the direction or joining of
/// text become \u202e; bytes that are no UTF-8 become \xff; spaces at either end become the open box (U+2423), since a
/// leading space is part of many tokens. Everything else, backslashes included, stays as it is: the text is for eyes,
/// it is not meant to be read back.
/// @param text  a token, a path, a name: anybody's writing
std::string visible_text(std::string_view text);

/// How many columns a terminal gives a text: 2 for East Asian wide characters and emoji, 0 for combining marks, else 1.
/// @param text  UTF-8; bytes that are none count as one column each
Index display_width(std::string_view text);

/// The text itself if it fits, else its beginning and an ellipsis, `width` columns together. Combining marks stay with
/// the character they belong to.
/// @param text   UTF-8
/// @param width  columns, at least 1
std::string shortened(std::string_view text, Index width);

/// A text as HTML content or attribute value: visible_text() with & < > " ' written as entities.
std::string html_text(std::string_view text);

}  // namespace headwave
