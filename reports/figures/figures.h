#pragma once

#include <array>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "figure_kind.h"

namespace headwave {

/// The formats that figures are drawn in.
inline constexpr std::array figure_formats{"pdf", "svg", "png"};

/// The formats asked for, and those that a figure has already: its formats stay together, all show the same.
/// @param stem  folder/name
std::vector<std::string> formats_together(const std::filesystem::path& stem, std::vector<std::string> asked);

/// Every sort of figure, in the order of the paper's argument.
const std::vector<FigureKind>& figure_kinds();

/// Told which figure is about to be drawn: its name, its number from 1, and how many there are.
using FigureCallback = std::function<void(const std::string& name, std::size_t number, std::size_t count)>;

/// The figures that a result is drawn as, in their order: those of options.only; if it is empty, every figure
/// whose Fields are in the result, but not those of undrawn_figures().
/// @throws FormatError if a name is unknown, with the nearest; ShapeError if the result does not contain what
///         such a figure shows
std::vector<const FigureKind*> kinds_of(const Result& result, const FigureOptions& options = {});

/// A figure whose Fields are in a result and would show nothing, or noise.
struct UndrawnFigure {
  std::string name, why;
};

/// The figures that are omitted though their Fields are in the result: numbers that are undefined, waves
/// before a position term, and what FigureKind::silent says. None if options.only names figures.
std::vector<UndrawnFigure> undrawn_figures(const Result& result, const FigureOptions& options = {});

/// A line for each reason: "no position table: position_spectrum, position_components".
std::vector<std::string> undrawn_lines(const std::vector<UndrawnFigure>& undrawn);

/// The caption of a figure in a paper, one paragraph of plain text: what is seen, then which model, text and pairs.
/// Names from the result are visible_text() here, and no longer than 80 columns.
/// @param shown  Figure::shown of what was drawn
std::string caption_of(const FigureKind& kind, const Result& result, const FigureOptions& options,
                       const std::string& shown = {});

/// The same as the file "txt".
DrawnFile caption_file(const std::string& caption);

/// Draws the figures of a result: kinds_of() it. gnuplot draws, as a child process.
/// @param folder  where name.pdf, name.svg, name.png and the caption in name.txt go, made if it is not there. Formats
///                of a figure that lie there already are drawn again with those asked for
/// @param begins  may be empty
/// @returns the files written, figure by figure
/// @throws ShapeError if a head is asked for that is not in the result, or a Field has another shape than
///         described; FormatError if a head's name is invalid, or heads are asked for of a figure in
///         options.only that shows all heads at once; both as kinds_of(); IoError if gnuplot is missing or a
///         file cannot be written
std::vector<std::filesystem::path> draw_figures(const Result& result, const std::filesystem::path& folder,
                                                const FigureOptions& options = {}, const FigureCallback& begins = {});

}  // namespace headwave
