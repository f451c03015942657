#pragma once

#include "figure_kind.h"

namespace headwave {

/// The waves themselves: the most periodic redefined query columns of a few heads and the key columns that go with
/// them, over the first tokens of one document. A row per head, see chosen_heads().
FigureKind redefined_figure();

}  // namespace headwave
