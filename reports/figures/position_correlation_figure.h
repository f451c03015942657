#pragma once

#include "../../core/fields/field.h"
#include "../drawing/gnuplot.h"
#include "figures.h"

namespace headwave {

/// How much of the positions is left in the hidden states: canonical correlations by component, a line per layer, a
/// panel per number of principal components kept, with what shuffled positions reach in grey.
/// @throws ShapeError if the Fields have other axes than described, or hold nothing
GnuplotFigure position_correlation_figure(const Result& result, const FigureOptions& options);

}  // namespace headwave
