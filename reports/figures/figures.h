#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "figure_kind.h"

namespace headwave {

/// Every sort there is, in the order of the paper's argument.
const std::vector<FigureKind>& figure_kinds();

/// Told which figure is about to be drawn: its name, its number from 1, and how many there are.
using FigureCallback = std::function<void(const std::string& name, std::size_t number, std::size_t count)>;

/// The sorts whose Fields are all among these names.
std::vector<const FigureKind*> drawable_kinds(const std::vector<std::string>& fields);

/// Draws every sort of figure whose Fields are in the result.
///
/// Drawing is gnuplot's work, which is started as a child process once per figure.
/// @param folder  where name.pdf, name.svg, name.png and name.tsv go; made if it is not there
/// @param begins  may be empty
/// @returns the files written, figure by figure
/// @throws ShapeError if a head is asked for that is not in the result, or a Field has another shape than described;
///         FormatError if a head's name is none; IoError if gnuplot is missing or a file cannot be written
std::vector<std::filesystem::path> draw_figures(const Result& result, const std::filesystem::path& folder,
                                                const FigureOptions& options = {}, const FigureCallback& begins = {});

}  // namespace headwave
