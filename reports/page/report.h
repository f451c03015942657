#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "../../core/fields/field.h"

namespace headwave {

/// Writes one page for exploring a result: a paragraph, an overview of all heads, and for each head its
/// sentence, the experiments on it, its profile, attention map, strongest pairs and sources.
///
/// The page is one HTML file with style, program and numbers inside. Any browser of 2023 or later opens it
/// from a disk, without a network or other files. The same result gives the same bytes. Arrays are packed
/// (page_data.h) so that the page stays below 10 MB; the page names those that are left out. All text of the
/// result is shown as text, whatever it contains.
/// @param path  the page, "report.html"; its folder is made if it is missing
/// @throws ShapeError if the Fields have other axes than described; IoError if the page cannot be written
void write_report(const Result& result, const std::filesystem::path& path);

/// The page as text.
/// @throws ShapeError as above
std::string report_page(const Result& result);

/// The page without its data, assembled by cmake/page.cmake from parts/: HTML with style and program inside,
/// and the placeholders <!--title--> (twice) and <!--data--> (once).
std::string_view page_shell();

}  // namespace headwave
