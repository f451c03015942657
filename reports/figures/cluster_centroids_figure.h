#pragma once

#include "figure_kind.h"

namespace headwave {

/// The centroid of each cluster of offset traces as a line, with the cluster's mass and the offset where it peaks.
FigureKind cluster_centroids_figure();

/// The same of score_cluster.
///
/// Source: Yamamoto and Matsuzaki 2023 for GPT-2 and BART.
FigureKind score_centroids_figure();

}  // namespace headwave
