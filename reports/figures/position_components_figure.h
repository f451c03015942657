#pragma once

#include "../../core/fields/field.h"
#include "../drawing/gnuplot.h"
#include "figures.h"

namespace headwave {

/// How many principal components the position table needs: cumulative share of variance against their number, with the
/// counts that the paper names, 4 and 12, marked.
/// @throws ShapeError if the result has no position_components/cumulative_share, or it holds none
GnuplotFigure position_components_figure(const Result& result, const FigureOptions& options);

}  // namespace headwave
