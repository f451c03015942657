#pragma once

#include "figure_kind.h"

namespace headwave {

/// How many principal components the position table needs: cumulative share of variance against their number, with the
/// counts that the paper names, 4 and 12, marked.
FigureKind position_components_figure();

}  // namespace headwave
