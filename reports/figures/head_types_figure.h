#pragma once

#include "figure_kind.h"

namespace headwave {

/// What every head is called, layers down and heads across: a panel for every name that a head can have, coloured by the
/// score that earns it, the heads that are called so framed and counted.
FigureKind head_types_figure();

}  // namespace headwave
