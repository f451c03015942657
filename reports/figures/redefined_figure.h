#pragma once

#include "../../core/fields/field.h"
#include "../drawing/gnuplot.h"
#include "figures.h"

namespace headwave {

/// The waves themselves: the most periodic redefined query columns of a few heads and the key columns that go with
/// them, over the first tokens of one document. A row per head, see chosen_heads().
/// @throws ShapeError if the Fields have other axes than described, differ in size, or lack a head asked for
GnuplotFigure redefined_figure(const Result& result, const FigureOptions& options);

}  // namespace headwave
