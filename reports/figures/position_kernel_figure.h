#pragma once

#include "../../core/fields/field.h"
#include "../drawing/gnuplot.h"
#include "figures.h"

namespace headwave {

/// What every head would do by position alone: its kernel over offsets, a panel per head, layers in rows; the predicted
/// offset, and the Toeplitz share beside its null.
/// @throws ShapeError if the result has no position_atlas/kernel, or too many heads to draw
GnuplotFigure position_kernel_figure(const Result& result, const FigureOptions& options);

}  // namespace headwave
