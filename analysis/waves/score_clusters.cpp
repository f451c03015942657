#include "score_clusters.h"

#include <algorithm>
#include <cmath>

namespace headwave {

namespace {

class ScoreClusterAnalysis : public Analysis {
 public:
  using Analysis::Analysis;
  [[nodiscard]] std::vector<Field> finish(Finished& finished) override {
    const HeadClusters found =
        score_clusters(finished.get<CrossCovariances>(), site().grid, stack().block.score_scale,
                       options()[score_window_option], job_cluster_options(input(), options()[score_clusters_option]));
    return before_position_term(describe(found, "score_cluster"), stack());
  }
};

}  // namespace

HeadClusters score_clusters(const CrossCovariances& covariances, const HeadGrid& grid, double score_scale, Index window,
                            const HeadClusterOptions& options) {
  const Index near = std::min(window, covariances.reach()), rows = grid.rows();
  Matrix vectors(static_cast<Index>(covariances.weighted_by_document.size()) * rows, 2 * near + 1);
  Index first = 0;
  for (const Matrix& weighted : covariances.weighted_by_document) {
    vectors.middleRows(first, rows) = score_scale * weighted.middleCols(covariances.reach() - near, 2 * near + 1);
    first += rows;
  }
  vectors = vectors.unaryExpr([](double value) { return std::isnan(value) ? 0.0 : value; });
  return head_clusters(
      {vectors, grid.layers, grid.heads, "none: scaled scores without row means, summed along a diagonal"}, options);
}

const AnalysisKind& score_cluster_analysis() {
  static const AnalysisKind kind{.name = "score_cluster",
                                 .asks = "Which heads have scores alike, before mask and softmax?",
                                 .step = Step::waves,
                                 .needs = {Need::weights, Need::states, Need::equal_length},
                                 .reads = {cross_covariance_analysis},
                                 .options = {&score_window_option, &score_clusters_option, &sweep_option},
                                 .chain = true,
                                 .make = make_of<ScoreClusterAnalysis>};
  return kind;
}

}  // namespace headwave
