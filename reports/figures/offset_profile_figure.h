#pragma once

#include "../drawing/gnuplot.h"
#include "figures.h"

namespace headwave {

/// Small multiples of all heads: mean attention weight against the offset key minus query, |t| <= 16, layers down.
///
/// Each panel is scaled to its own largest value, written above it, since heads differ a hundredfold. A dot and a
/// number mark the measured offset where the result has one; an arrow where it lies outside the panel.
/// @throws ShapeError if the Fields have other axes than described
GnuplotFigure offset_profile_figure(const Result& result, const FigureOptions& options);

}  // namespace headwave
