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

/// The sorts of figures that a result can be drawn as, in their order; if names are given, these alone. Without names,
/// figures that follow waves are omitted where a position term is left out of the queries and keys: there they show noise.
/// @throws FormatError if a name is unknown, with the nearest; ShapeError if the result does not contain what such a
///         figure shows
std::vector<const FigureKind*> kinds_of(const Result& result, const std::vector<std::string>& only = {});

/// Draws the figures of a result: kinds_of() it and options.only. gnuplot draws, as a child process.
/// @param folder  where name.pdf, name.svg, name.png, the numbers in name.tsv and the captions in name.txt and name.tex
///                go, with the result's run_mark(); made if it is not there. Formats of a figure that lie there already
///                are drawn again with those asked for
/// @param begins  may be empty
/// @returns the files written, figure by figure
/// @throws ShapeError if a head is asked for that is not in the result, or a Field has another shape than described;
///         FormatError if a head's name is invalid; both as kinds_of(); IoError if gnuplot is missing or a file cannot be
///         written
std::vector<std::filesystem::path> draw_figures(const Result& result, const std::filesystem::path& folder,
                                                const FigureOptions& options = {}, const FigureCallback& begins = {});

}  // namespace headwave
