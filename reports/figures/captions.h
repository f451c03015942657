#pragma once

#include <string>
#include <vector>

#include "../drawing/gnuplot.h"
#include "figure_kind.h"

namespace headwave {

/// Whether the numbers that a figure draws leave out the model's position term, as redefined queries and keys
/// do.
bool leaves_out_position_term(const FigureKind& kind, const Result& result);

/// The caption of a figure in a paper, one paragraph of plain text: what is seen, then which model, text and
/// pairs.
///
/// Names from the result are visible_text() here, and no longer than 80 columns.
/// @param shown  GnuplotFigure::shown() of the drawn figure
std::string caption_of(const FigureKind& kind, const Result& result, const FigureOptions& options,
                       const std::string& shown = {});

/// The same as LaTeX: \caption{...} and \label{fig:name}, to be read by \input inside a figure. Signs that
/// LaTeX takes for commands are escaped, Greek letters and minus signs are written as mathematics; all else
/// stays UTF-8.
/// @param name     of the figure: letters, digits and underscores
/// @param caption  one paragraph
std::string latex_caption(const std::string& name, const std::string& caption);

/// Both, as the files "txt" and "tex".
std::vector<DrawnFile> caption_files(const std::string& name, const std::string& caption);

}  // namespace headwave
