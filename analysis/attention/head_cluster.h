#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "../../core/fields/field.h"
#include "../../core/numbers/matrix.h"
#include "../pass/analysis.h"

namespace headwave {

/// Vectors to cluster, one for each head in each document, ordered by document, then layer, then head.
struct HeadVectors {
  MatrixView values;          ///< (documents * layers * heads, 2 w + 1)  offset traces at the offsets -w .. w
  std::vector<Index> layers;  ///< layer numbers, in the order of the rows
  Index heads = 0;
  std::string normalisation = {};  ///< how documents were made comparable; a note in the result
};

struct HeadClusterOptions {
  Index clusters = 6;            ///< k, as published
  Index sweep_last = 12;         ///< the quality is also given for k = 2 .. sweep_last; below 2: for `clusters` alone
  Index restarts = 50;           ///< number of starts of k-means; the best start is kept
  Index bootstrap = 20;          ///< number of resamples of the documents for the stability
  Index bootstrap_restarts = 5;  ///< starts for each resample; few suffice, since a bad start only lowers the stability
  Index silhouette_points = 4000;  ///< number of random vectors from which a silhouette is computed
  std::uint64_t seed = 1;
  int threads = 1;  ///< does not change results
};

/// Clusters the offset traces of all heads and documents by k-means, and measures the stability of clusters.
///
/// Each vector is one head in one document. So a head has one label for each document, and a share of its
/// labels in each cluster. Clusters are ordered by the offset of the centroid's maximum (offset_peak()), then
/// by descending number of vectors. For the stability, documents are resampled with replacement and clustered
/// again, and every original vector gets the label of its nearest new centroid. The stability is the adjusted
/// Rand index between these labels and the original labels. It is undefined if there is only one document.
///
/// Heads that differ only outside the window cannot be told apart. For example, a head that attends to a
/// distant sink and a head without a preference look alike within +-10 tokens. If there are fewer different
/// vectors than clusters asked for, there are fewer clusters.
///
/// Source: Yamamoto and Matsuzaki 2023, section 3.1; stability: Hennig 2007, doi:10.1016/j.csda.2006.11.025
/// @returns Fields head_cluster/..., the shares first
std::vector<Field> head_clusters(const HeadVectors& vectors, const HeadClusterOptions& options = {});

inline constexpr OwnOption window_option{"window", "largest offset of the profiles that are clustered, in tokens", 10,
                                         1, 4096};
inline constexpr OwnOption clusters_option{"clusters", "number of clusters of heads (k-means)", 6, 1, 100};
inline constexpr OwnOption sweep_option{
    "sweep", "report the quality of clusterings with 2 to N clusters; 0: only of the chosen number", 0, 2, 100, true};

}  // namespace headwave
