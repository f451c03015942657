#pragma once

#include "figure_kind.h"

namespace headwave {

/// Inertia, silhouette and stability against the number of clusters.
FigureKind cluster_sweep_figure();

}  // namespace headwave
