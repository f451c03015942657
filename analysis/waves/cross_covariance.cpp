#include "cross_covariance.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "../../core/algebra/product.h"
#include "../../core/fields/fields.h"
#include "../../core/numbers/lagged_sums.h"

namespace headwave {

namespace {

/// Equation (3).
/// @param sums  (2 near + 1)  equation (1) at lags -near .. near
Vector centred_and_unbiased(const HeadWaves& waves, Index column, Eigen::Ref<const Vector> sums) {
  const Vector q = waves.query.col(column), k = waves.key.col(column);
  const Index length = q.size(), near = sums.size() / 2;
  const double mean_q = q.mean(), mean_k = k.mean();
  const PairSums pairs(q, k, near);
  Vector result(sums.size());
  for (Index t = -near; t <= near; ++t) {
    const Index at = t + near;
    const auto count = static_cast<double>(length - std::abs(t));
    result[at] = (sums[at] - mean_q * pairs.key[at] - mean_k * pairs.query[at] + count * mean_q * mean_k) / count;
  }
  return result;
}

}  // namespace

CrossCovariance cross_covariance(const HeadWaves& waves, Index reach) {
  const Index length = waves.length(), k = waves.rank();
  const Index near = std::min(reach, length - 1), from = length - 1 - near, width = 2 * near + 1;
  const Vector gain = waves.head->svd.gain.head(k);
  CrossCovariance result;
  result.covariance = lagged_sums_by_column(waves.padded_query, waves.padded_key);
  result.correlation.resize(k, width);
  result.unbiased.resize(k, width);
  for (Index j = 0; j < k; ++j) {
    const double norms = waves.query.col(j).norm() * waves.key.col(j).norm();
    const auto row = result.covariance.row(j);
    if (norms > 0)
      result.correlation.row(j) = (row.segment(from, width).array() - row.mean()) / norms;
    else
      result.correlation.row(j).setConstant(not_defined);
    result.unbiased.row(j) = centred_and_unbiased(waves, j, row.segment(from, width).transpose()).transpose();
  }
  result.weighted = product(result.covariance.transpose(), gain);
  // Row means of Q S K^T are Q S times the mean key: take it away from the keys, and the weighted sum is
  // centred.
  const Vector mean_key = waves.key.colwise().mean().transpose();
  const Vector along = product(waves.query, gain.cwiseProduct(mean_key));
  const Vector before = prefix_sums(along);
  result.weighted_centred.resize(2 * length - 1);
  for (Index t = 1 - length; t < length; ++t) {
    const Index first = std::max<Index>(0, -t), end = std::min(length, length - t);
    result.weighted_centred[t + length - 1] = result.weighted[t + length - 1] - (before[end] - before[first]);
  }
  return result;
}

namespace {

/// Cross-covariances summed over documents. Rows are (head), or (head, component); lags |t| <= reach.
struct CrossCovariances {
  Index documents = 0;
  Matrix covariance, correlation, unbiased;  ///< (rows * d_head, 2 reach + 1)
  Matrix weighted, weighted_centred;         ///< (rows, 2 reach + 1)
};

class CovarianceListener : public WaveListener {
 public:
  /// @param components  d_head
  CovarianceListener(Index rows, Index components, Index reach) : components_(components), reach_(reach) {
    const Matrix of_columns = Matrix::Constant(rows * components, 2 * reach + 1, not_defined);
    const Matrix of_heads = Matrix::Constant(rows, 2 * reach + 1, not_defined);
    found_ = {1, of_columns, of_columns, of_columns, of_heads, of_heads};
  }
  void see(const HeadWaves& waves) override {
    const Index near = std::min(reach_, waves.length() - 1);
    const CrossCovariance one = cross_covariance(waves, reach_);
    const Index from = waves.length() - 1 - near, to = reach_ - near, width = 2 * near + 1;
    const Index first = component_row(waves.row, 0, components_);
    found_.covariance.block(first, to, waves.rank(), width) = one.covariance.middleCols(from, width);
    found_.correlation.block(first, to, waves.rank(), width) = one.correlation;
    found_.unbiased.block(first, to, waves.rank(), width) = one.unbiased;
    found_.weighted.row(waves.row).segment(to, width) = one.weighted.segment(from, width).transpose();
    found_.weighted_centred.row(waves.row).segment(to, width) = one.weighted_centred.segment(from, width).transpose();
  }
  [[nodiscard]] CrossCovariances taken() { return std::move(found_); }

 private:
  Index components_, reach_;
  CrossCovariances found_;
};

class CrossCovarianceAnalysis : public AnalysisOf<CrossCovariances> {
 public:
  using AnalysisOf::AnalysisOf;
  [[nodiscard]] std::unique_ptr<Look> look(const Document& /*document*/, Index i) const override {
    if (site().number_of(i) < 0) return nullptr;
    return look_of<CovarianceListener>(site().grid.rows(), stack().block.d_head, options().reach);
  }

 protected:
  [[nodiscard]] std::vector<Field> finish_sum(CrossCovariances& sum, Finished& /*finished*/) override {
    const auto documents = static_cast<double>(sum.documents);
    const Axis layer = layer_axis(site().grid.layers), head = head_axis(site().grid.heads);
    const Axis lag = offset_axis("offset", -options().reach, options().reach);
    const std::vector<Axis> heads{layer, head, lag}, columns{layer, head, component_axis(stack().block.d_head), lag};
    const char* const no_pair = "no pair at that lag";
    const char* const no_column = "beyond the head's rank, or no pair at that lag";
    Fields fields("cross_covariance");
    fields.add("weighted", heads, "1",
               "sum of column cross-covariances weighted by gain: unscaled scores summed along a diagonal",
               sum.weighted / documents, no_pair);
    fields.add("weighted_centred", heads, "1",
               "weighted sum of scores without their row means, which the softmax cannot see",
               sum.weighted_centred / documents, no_pair);
    fields.add("covariance", columns, "1", "biased cross-covariance of redefined query and key columns",
               sum.covariance / documents, no_column);
    fields.add("correlation", columns, "1",
               "cross-correlation of redefined query and key columns, less its mean over all lags",
               sum.correlation / documents, no_column);
    fields.add("unbiased", columns, "1", "cross-covariance of centred columns divided by the number of pairs",
               sum.unbiased / documents, no_column);
    fields.note_all("length", site().length).note_all("documents", sum.documents);
    return before_position_term(fields.taken(), stack());
  }
};

}  // namespace

const AnalysisKind& cross_covariance_analysis() {
  static const AnalysisKind kind{.name = "cross_covariance",
                                 .asks = "At which lags do redefined queries and keys vary together?",
                                 .needs = {Need::weights, Need::states, Need::equal_length},
                                 .reads = {qk_svd_analysis},
                                 .chain = true,
                                 .make = make_of<CrossCovarianceAnalysis>};
  return kind;
}

}  // namespace headwave
