#include "cross_covariance.h"

#include <algorithm>
#include <cmath>

#include "../../core/algebra/product.h"
#include "../../core/fields/fields.h"
#include "../../core/numbers/lagged_sums.h"

namespace headwave {

namespace {

/// Equation (3).
/// @param sums  (2 near + 1)  equation (1) at lags -near .. near
Vector centred_and_unbiased(const Vector& q, const Vector& k, Eigen::Ref<const Vector> sums) {
  const Index length = q.size(), near = sums.size() / 2;
  const double mean_q = q.mean(), mean_k = k.mean();
  const Vector before_q = prefix_sums(q), before_k = prefix_sums(k);
  Vector result(sums.size());
  for (Index t = -near; t <= near; ++t) {
    const Index first = std::max<Index>(0, -t), end = std::min(length, length - t);  // range of i
    const double sum_q = before_q[end] - before_q[first], sum_k = before_k[end + t] - before_k[first + t];
    const auto count = static_cast<double>(length - std::abs(t));
    result[t + near] = (sums[t + near] - mean_q * sum_k - mean_k * sum_q + count * mean_q * mean_k) / count;
  }
  return result;
}

/// Cross-covariances summed over documents, at lags |t| <= reach. Rows are (head), or (head, component).
struct CrossCovariances {
  Index documents = 0;
  Matrix covariance, correlation, unbiased;  ///< (rows * d_head, 2 reach + 1)
  Matrix weighted, weighted_centred;         ///< (rows, 2 reach + 1)
};

struct CrossCovarianceAnalysis : AnalysisOf<CrossCovariances> {
  using AnalysisOf::AnalysisOf;
  [[nodiscard]] std::unique_ptr<Look> look(const Document& /*document*/, Index i) const override {
    if (site().number_of(i) < 0) return nullptr;
    const Index components = stack().block.d_head, reach = options().reach;
    const Matrix of_columns = Matrix::Constant(site().grid.rows() * components, 2 * reach + 1, not_defined);
    const Matrix of_heads = Matrix::Constant(site().grid.rows(), 2 * reach + 1, not_defined);
    return observe_waves(CrossCovariances{1, of_columns, of_columns, of_columns, of_heads, of_heads},
                         [components, reach](CrossCovariances& found, const HeadWaves& waves) {
                           const CrossCovariance one = cross_covariance(waves, reach);
                           const Index first = component_row(waves.row, 0, components), width = one.weighted.size();
                           const Index to = reach - width / 2;
                           found.covariance.block(first, to, waves.rank(), width) = one.covariance;
                           found.correlation.block(first, to, waves.rank(), width) = one.correlation;
                           found.unbiased.block(first, to, waves.rank(), width) = one.unbiased;
                           found.weighted.row(waves.row).segment(to, width) = one.weighted.transpose();
                           found.weighted_centred.row(waves.row).segment(to, width) = one.weighted_centred.transpose();
                         });
  }
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
               "cross-correlation of redefined query and key columns, minus its mean over all lags",
               sum.correlation / documents, no_column);
    fields.add("unbiased", columns, "1", "cross-covariance of centred columns divided by the number of pairs",
               sum.unbiased / documents, no_column);
    fields.note_all("length", site().length).note_all("documents", sum.documents);
    return before_position_term(fields.taken(), stack());
  }
};

}  // namespace

CrossCovariance cross_covariance(const HeadWaves& waves, Index reach) {
  const Index length = waves.length(), k = waves.rank();
  const Index near = std::min(reach, length - 1), from = length - 1 - near, width = 2 * near + 1;
  const Vector gain = waves.head->svd.gain.head(k);
  const Matrix all = lagged_sums_by_column(waves.padded_query, waves.padded_key);
  CrossCovariance result{all.middleCols(from, width), Matrix(k, width), Matrix(k, width),
                         product(all.transpose(), gain).segment(from, width), Vector(width)};
  for (Index j = 0; j < k; ++j) {
    const double norms = waves.query.col(j).norm() * waves.key.col(j).norm();
    if (norms > 0)
      result.correlation.row(j) = (result.covariance.row(j).array() - all.row(j).mean()) / norms;
    else
      result.correlation.row(j).setConstant(not_defined);
    result.unbiased.row(j) =
        centred_and_unbiased(waves.query.col(j), waves.key.col(j), result.covariance.row(j).transpose()).transpose();
  }
  // The row means of Q S K^T are Q S times the mean key. Subtracting them centres the weighted sum.
  const Vector mean_key = waves.key.colwise().mean().transpose();
  const Vector before = prefix_sums(product(waves.query, gain.cwiseProduct(mean_key)));
  for (Index t = -near; t <= near; ++t) {
    const Index first = std::max<Index>(0, -t), end = std::min(length, length - t);
    result.weighted_centred[t + near] = result.weighted[t + near] - (before[end] - before[first]);
  }
  return result;
}

extern const AnalysisKind cross_covariance_analysis{
    .name = "cross_covariance",
    .asks = "At which lags do redefined queries and keys vary together?",
    .equal_length = true,
    .reads = {&qk_svd_analysis},
    .chain = true,
    .make = make_of<CrossCovarianceAnalysis>};

}  // namespace headwave
