#pragma once

#include "figure_kind.h"

namespace headwave {

/// Where the scores of every head point: the weighted sum of cross-covariances against the lag, a panel per head,
/// layers in rows, each on its own scale with its maximum marked.
FigureKind weighted_profile_figure();

}  // namespace headwave
