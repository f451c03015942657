#pragma once

#include "figure_kind.h"

namespace headwave {

/// What carries a head's offset: attention (above) and scores (below) by offset, with words and positions, positions
/// alone, words alone, words in another order; a column per head.
///
/// Source: Yamamoto and Matsuzaki 2023.
FigureKind carried_waves_figure();

}  // namespace headwave
