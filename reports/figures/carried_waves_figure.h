#pragma once

#include "../drawing/gnuplot.h"
#include "figures.h"

namespace headwave {

/// What carries a head's offset: attention (above) and scores (below) by offset, with words and positions, positions
/// alone, words alone, words in another order; a column per head.
///
/// Source: Yamamoto and Matsuzaki 2023.
/// @throws ShapeError if the Fields have other axes than described; FormatError if a head's name is none
GnuplotFigure carried_waves_figure(const Result& result, const FigureOptions& options);

}  // namespace headwave
