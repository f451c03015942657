#pragma once

#include "../drawing/gnuplot.h"
#include "figures.h"

namespace headwave {

/// What every head is called, layers down and heads across: a coloured cell with the score that earned the name, and
/// under it the offset of a positional head. Beside it how many heads have which name.
/// @throws ShapeError if the Fields have other axes or names than described
GnuplotFigure head_types_figure(const Result& result, const FigureOptions& options);

}  // namespace headwave
