#pragma once

#include "figure_kind.h"

namespace headwave {

/// What every head is called, layers down and heads across: a coloured cell with the score that earned the name, and
/// under it the offset of a positional head. Beside it how many heads have which name.
FigureKind head_types_figure();

}  // namespace headwave
