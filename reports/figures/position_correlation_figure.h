#pragma once

#include "figure_kind.h"

namespace headwave {

/// How much of the positions is left in the hidden states: canonical correlations by component, a line per layer, a
/// panel per number of principal components kept, with what shuffled positions reach in grey.
FigureKind position_correlation_figure();

}  // namespace headwave
