#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "../../core/fields/field.h"

namespace headwave {

/// Writes one page to explore a result with: a paragraph, an overview of all heads, and for each head its sentence,
/// what was done to it, its profile, attention map, sources, and what else the result has of it.
///
/// One file of HTML with style, program and numbers inside: it opens from a disk in any browser of 2023 or later, asks
/// nothing of a network, and needs nothing beside it. The same result gives the same bytes. Arrays are packed
/// (page_data.h), under 10 MB all together; the page names those that are left out. All text of the result is shown as
/// text, whatever it holds.
/// @param path  the page, "report.html"; its folder is made if it is not there
/// @throws ShapeError if the Fields have other axes than described; IoError if the page cannot be written
void write_report(const Result& result, const std::filesystem::path& path);

/// The page itself.
/// @throws ShapeError as above
std::string report_page(const Result& result);

/// The page around its data, put together by cmake/page.cmake from the files in parts/: HTML with style and program inside,
/// <!--title--> twice and <!--data--> once where those go.
std::string_view page_shell();

}  // namespace headwave
