#pragma once

#include "figure_kind.h"

namespace headwave {

/// A pie per head, layers down and heads across: which share of the texts put the head into which cluster. Colours are
/// those of cluster_centroids_figure().
///
/// Source: Yamamoto and Matsuzaki 2023, figure 1.
FigureKind cluster_shares_figure();

/// The same of score_cluster, with the colours of score_centroids_figure().
///
/// Source: Yamamoto and Matsuzaki 2023 for GPT-2 and BART.
FigureKind score_shares_figure();

}  // namespace headwave
