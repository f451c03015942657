#pragma once

#include "figure_kind.h"

namespace headwave {

/// Heads over the patches of an image, a row of panels each: mean weight by offset on the grid, the weight that the patch
/// at a place gets from all, and the attention of single queries over one image.
FigureKind grid_offset_figure();

}  // namespace headwave
