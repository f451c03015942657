#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "../../core/fields/field.h"
#include "../../core/numbers/matrix.h"
#include "../pass/analysis.h"

namespace headwave {

/// The vectors to cluster: one for every document and head. Rows are document-major, then layer, then head.
struct HeadVectors {
  MatrixView values;          ///< (documents * layers * heads, 2 w + 1)  over offsets -w .. w: the near offset traces
  std::vector<Index> layers;  ///< layer numbers, in the order of the rows
  Index heads = 0;
  std::string normalisation = {};  ///< how documents were made comparable, for the result
};

struct HeadClusterOptions {
  Index clusters = 6;     ///< k; the published choice
  Index sweep_last = 12;  ///< quality is given for k = 2 .. this, and for `clusters`; below 2: for `clusters` alone
  Index restarts = 50;    ///< starts; the best is kept
  Index bootstrap = 20;   ///< resamples of the documents for every stability
  Index bootstrap_restarts = 5;    ///< starts for a resample: fewer, as a miss only lowers the stability
  Index silhouette_points = 4000;  ///< random vectors that stand for all in a silhouette
  std::uint64_t seed = 1;
  int threads = 1;  ///< does not change results
};

/// Head clusters: k-means over the offset traces of all documents and heads, and how stable the clusters are.
///
/// Each vector is one head in one document, so a head has a label per document and a share in each cluster.
/// Clusters are put in a canonical order: by the offset at which the centroid is largest (offset_peak()), the
/// left first; then by mass, the larger first. Stability resamples documents with replacement, clusters the
/// resample anew, gives every vector of the original the nearest of the new centroids, and takes the adjusted
/// Rand index against the labels; with one document it is not defined. Only kinds that differ within the
/// window can be told apart: a sink and a noise head look alike within +-10 tokens. There are fewer clusters
/// than asked for if there are fewer different vectors.
///
/// Source: Yamamoto and Matsuzaki 2023, section 3.1; the stability after Hennig 2007, doi:10.1016/j.csda.2006.11.025.
/// @returns Fields head_cluster/..., the shares first
std::vector<Field> head_clusters(const HeadVectors& vectors, const HeadClusterOptions& options = {});

inline constexpr OwnOption window_option{"window", "largest offset at which attention is clustered, in tokens", 10, 1,
                                         4096};
inline constexpr OwnOption clusters_option{"clusters", "number of clusters of heads (k-means)", 6, 1, 100};
inline constexpr OwnOption sweep_option{
    "sweep", "give the quality of 2 to N clusters; 0: of the chosen number only", 0, 2, 100, true};

}  // namespace headwave
