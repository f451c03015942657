#pragma once

#include "figure_kind.h"

namespace headwave {

/// Which frequencies redefined queries, keys and states hold at their strongest, a panel per layer, all on one scale,
/// with the same of shuffled positions.
FigureKind wave_spectra_figure();

}  // namespace headwave
