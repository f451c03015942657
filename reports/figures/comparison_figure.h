#pragma once

#include "figure_kind.h"

namespace headwave {

/// Which heads of two results differ in which measures, which way, and where beyond the interval: heads by measures, those
/// that changed first.
FigureKind comparison_figure();

}  // namespace headwave
