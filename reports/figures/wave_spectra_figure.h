#pragma once

#include "../../core/fields/field.h"
#include "../drawing/gnuplot.h"
#include "figures.h"

namespace headwave {

/// Which frequencies redefined queries, keys and states hold at their strongest, a panel per layer, all on one scale,
/// with the same of shuffled positions.
/// @throws ShapeError if the Fields have other axes than described, or differ in size
GnuplotFigure wave_spectra_figure(const Result& result, const FigureOptions& options);

}  // namespace headwave
