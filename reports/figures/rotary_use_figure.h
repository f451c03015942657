#pragma once

#include "figure_kind.h"

namespace headwave {

/// How much the heads of every layer use each rotary frequency.
FigureKind rotary_use_figure();

}  // namespace headwave
