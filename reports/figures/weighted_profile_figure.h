#pragma once

#include "../../core/fields/field.h"
#include "../drawing/gnuplot.h"
#include "figures.h"

namespace headwave {

/// Where the scores of every head point: the weighted sum of cross-covariances against the lag, a panel per head,
/// layers in rows, each on its own scale with its maximum marked.
/// @throws ShapeError if the result has no cross_covariance/weighted_centred, or too many heads to draw
GnuplotFigure weighted_profile_figure(const Result& result, const FigureOptions& options);

}  // namespace headwave
