#pragma once

#include <filesystem>
#include <vector>

#include "../../core/fields/field.h"

namespace headwave {

/// Writes one page that opens anywhere: title, figures with captions, the table of heads, and where the result came
/// from.
///
/// HTML with its style inside; no scripts, nothing from a network, light or dark as the reader's system is, fit for
/// paper. Figures are referred to by relative path, so the page and their folder move together. All text of the result
/// is shown as text, whatever it holds.
/// @param figures  the files draw_figures() wrote; one file of each figure is shown, SVG before PNG, all are linked
/// @param path     the page, "summary.html"; its folder is made if it is not there
/// @throws ShapeError if the Fields have other axes than described; IoError if the page cannot be written
void write_summary(const Result& result, const std::vector<std::filesystem::path>& figures,
                   const std::filesystem::path& path);

}  // namespace headwave
