#pragma once

#include "figure_kind.h"

namespace headwave {

/// The phase of every pair of a few rotary heads against its frequency, and the lines of constant offset.
FigureKind rotary_wave_figure();

}  // namespace headwave
