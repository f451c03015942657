#pragma once

#include <string_view>

namespace headwave {

/// Whether a figure's file ends where it should, and nothing is missing in between as far as its format can tell. What
/// draws it says nothing when the disk is full.
///
/// PDF: the last line is %%EOF and the place of the cross-reference table, which follows all pages, is right. PNG: the
/// chunks follow each other to the last one. SVG: every element is closed.
/// @param format  "pdf", "png" or "svg"; of any other nothing is whole
bool is_whole_figure(std::string_view bytes, std::string_view format);

}  // namespace headwave
