#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "../../core/fields/field.h"

namespace headwave {

/// Writes one page for exploring a result: a paragraph, an overview of all heads, and for each head its
/// sentence, the experiments on it, its profile, its attention map, its strongest pairs and its sources.
///
/// The page is one HTML file that contains its style, its program and its numbers. Any browser of 2023 or
/// later opens it from a disk, without a network or other files. The same result gives the same bytes. Arrays
/// are packed (page_data.h) so that the page stays below 10 MB; the page names the arrays that had no room.
/// All text from the result is shown as text, whatever characters it contains.
/// @param path  file to write, such as "report.html"; its folder is made if it is missing
/// @throws ShapeError if a Field lacks the axes of its analysis; IoError if the page cannot be written
void write_report(const Result& result, const std::filesystem::path& path);

/// Makes the page of write_report() as one string.
/// @throws ShapeError as write_report()
std::string report_page(const Result& result);

/// The page without its data: HTML that contains style and program, and the placeholders <!--title--> (twice)
/// and <!--data--> (once). cmake/page.cmake assembles it from parts/.
std::string_view page_shell();

}  // namespace headwave
