#pragma once

#include "../../core/fields/field.h"
#include "../drawing/gnuplot.h"
#include "figures.h"

namespace headwave {

/// Where the scores of a few heads point, and which columns make them: the weighted sum against the lag with its
/// maximum marked, and below it the correlations of the columns with the largest gains. Heads as chosen_heads() says.
/// @throws ShapeError if the Fields have other axes than described, differ in size, or lack a head asked for
GnuplotFigure cross_covariance_figure(const Result& result, const FigureOptions& options);

}  // namespace headwave
