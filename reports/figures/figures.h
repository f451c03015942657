#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "figure_kind.h"

namespace headwave {

/// Every sort of figure, in the order of the paper's argument.
const std::vector<FigureKind>& figure_kinds();

/// The figures that a result is drawn as.
struct Drawable {
  std::vector<const FigureKind*> kinds;
  std::vector<std::string> undrawn;  ///< "no position table: position_spectrum, position_components"
};

/// The figures that options.only names; if it is empty, every figure whose Fields are in the result, without those that
/// would show nothing, or noise: numbers that are undefined, waves before a position term, and what FigureKind::silent
/// says.
/// @throws FormatError if a name is unknown, with the nearest; ShapeError if the result does not contain what
///         such a figure shows
Drawable drawable(const Result& result, const FigureOptions& options = {});

/// The caption of a figure in a paper, one paragraph of plain text: what is seen, then which model and text.
/// Names from the result are visible_text() here, and no longer than 80 columns.
/// @param shown  Figure::shown of what was drawn
std::string caption_of(const FigureKind& kind, const Result& result, const std::string& shown = {});

/// Draws the figures of a result that are drawable(). gnuplot draws, as a child process. Figures of all heads ignore
/// options.heads.
/// @param folder  where name.svg, or other formats, and the caption in name.txt go, made if it is not there
/// @returns the files written, figure by figure
/// @throws ShapeError if a head is asked for that is not in the result, or a Field has another shape than
///         described; FormatError if a head's name is invalid; both as drawable(); IoError if gnuplot is missing or a
///         file cannot be written
std::vector<std::filesystem::path> draw_figures(const Result& result, const std::filesystem::path& folder,
                                                const FigureOptions& options = {});

}  // namespace headwave
