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

/// The same as the file "txt".
DrawnFile caption_file(const std::string& caption);

}  // namespace headwave
