#pragma once

#include "../drawing/gnuplot.h"
#include "figures.h"

namespace headwave {

/// How far each head's offset moves when its keys are re-aimed by u tokens, beside the line of a head that reads
/// position alone.
/// @throws ShapeError if the Fields have other axes than described, or no head was re-aimed
GnuplotFigure re_aiming_figure(const Result& result, const FigureOptions& options);

}  // namespace headwave
