#pragma once

#include "../attention/head_clusters.h"
#include "cross_covariance.h"

namespace headwave {

/// Kinds of heads by their scores before mask and softmax: k-means over
///
///     score_scale * sum_j gain[j] xcov_j[t],  |t| <= window                                   (1)
///
/// for every document and head: equation (4) of cross_covariance.h for scaled scores without their row means,
/// which is what the softmax sees, summed along a diagonal. An offset without a pair counts 0.
///
/// Source: Yamamoto and Matsuzaki 2023 for GPT-2 and BART (score clusters, k = 2, |t| <= 30).
/// @param score_scale  of the model
/// @param window       in tokens; more than covariances.reach() counts as that
/// @throws Error as head_clusters()
HeadClusters score_clusters(const CrossCovariances& covariances, const HeadGrid& grid, double score_scale, Index window,
                            const HeadClusterOptions& options = {});

inline constexpr OwnOption score_window_option{
    "score_window", "largest offset of the scores that heads are clustered by, in tokens; the default is the paper's",
    30, 1, 4096};
inline constexpr OwnOption score_clusters_option{
    "score_clusters", "number of clusters of heads by their scores; the default is the paper's", 2, 1, 100};

/// In a job: score_cluster/...
const AnalysisKind& score_cluster_analysis();

}  // namespace headwave
