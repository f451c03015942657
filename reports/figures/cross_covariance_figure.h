#pragma once

#include "figure_kind.h"

namespace headwave {

/// Where the scores of a few heads point, and which columns make them: the weighted sum against the lag with its
/// maximum marked, and below it the correlations of the columns with the largest gains. Heads as chosen_heads() says.
FigureKind cross_covariance_figure();

}  // namespace headwave
