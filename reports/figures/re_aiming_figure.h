#pragma once

#include "figure_kind.h"

namespace headwave {

/// How far each head's offset moves when its keys are re-aimed by u tokens, beside the line of a head that reads
/// position alone.
FigureKind re_aiming_figure();

}  // namespace headwave
