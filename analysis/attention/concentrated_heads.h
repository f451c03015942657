#pragma once

#include "../../core/numbers/matrix.h"

namespace headwave {

/// Share of the heads whose documents fall into few clusters only: whether a head is of one kind whatever it reads.
///
///     1/rows #{ h : #{ k : share[h, k] > 0 } <= few }                                         (1)
///
/// With many documents a single one in a third cluster is enough to leave a head out.
///
/// Source: Yamamoto and Matsuzaki 2023, section 3.1 and figure 1: the 100 vectors of every head fall in 1 or 2 of 6.
/// @param shares  (rows, k)  share of a head's documents in each cluster, as HeadClusters::shares
/// @param few     clusters, at most
/// @returns in [0, 1]; NaN where there are no heads
double concentrated_heads(MatrixView shares, Index few = 2);

}  // namespace headwave
