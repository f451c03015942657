#pragma once

#include "figure_kind.h"

namespace headwave {

/// What every head would do by position alone: its kernel over offsets, a panel per head, layers in rows; the predicted
/// offset, and the Toeplitz share beside its null.
FigureKind position_kernel_figure();

}  // namespace headwave
