#pragma once

#include "figure_kind.h"

namespace headwave {

/// Heat maps of chosen heads over the first tokens of a text, query tokens down, key tokens across, see chosen_maps().
///
/// Each panel has its own colour scale from zero to its largest weight, since sharp heads reach 1 and soft ones 0.1.
FigureKind attention_map_figure();

}  // namespace headwave
