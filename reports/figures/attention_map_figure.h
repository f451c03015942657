#pragma once

#include "../drawing/gnuplot.h"
#include "figures.h"

namespace headwave {

/// Heat maps of chosen heads over the first tokens of a text, query tokens down, key tokens across.
///
/// Each panel has its own colour scale from zero to its largest weight, since sharp heads reach 1 and soft ones 0.1.
/// @throws ShapeError if a head asked for has no map, naming it and those there are; FormatError if its name is none
GnuplotFigure attention_map_figure(const Result& result, const FigureOptions& options);

}  // namespace headwave
