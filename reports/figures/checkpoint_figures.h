#pragma once

#include "figure_kind.h"

namespace headwave {

FigureKind checkpoint_counts_figure();
FigureKind checkpoint_heads_figure();

}  // namespace headwave
