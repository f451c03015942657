#include "cross_covariance.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "../../core/algebra/product.h"
#include "../../core/bytes/append.h"
#include "../../core/fields/fields.h"
#include "../../core/numbers/lagged_sums.h"
#include "../../core/numbers/pair_sums.h"

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

double key_only_share(const HeadWaves& waves, const Matrix& centred_keys) {
  if (waves.key_only.isZero(0)) return 0;
  const Vector alone = waves.key_only.array() - waves.key_only.mean();
  const Matrix gained = waves.query * waves.head->svd.gain.head(waves.rank()).asDiagonal();
  const double rest = gram_of(gained).cwiseProduct(gram_of(centred_keys)).sum();
  const double cross = gained.colwise().sum().dot(product(centred_keys.transpose(), alone));
  const double own = static_cast<double>(waves.length()) * alone.squaredNorm();
  const double whole = rest + own + 2 * cross;
  return whole > 0 ? own / whole : 0.0;
}

class CrossCovarianceAnalysis : public DocumentAnalysis<DocumentCovariances, CrossCovarianceSum> {
 public:
  explicit CrossCovarianceAnalysis(const AnalysisInput& input)
      : DocumentAnalysis(input, [&site = input.site, &block = input.stack().block, reach = input.options.reach] {
          return CrossCovarianceSum(site.grid, block.d_head, reach, site.length, block.score_scale);
        }) {}

  [[nodiscard]] std::unique_ptr<Look> look(const Document& /*document*/, Index i) const override {
    const Index number = site().number_of(i);
    if (number < 0) return nullptr;
    return look_of(
        std::make_unique<CovarianceListener>(site().grid, stack().block.d_head, options().reach, number == 0),
        &CovarianceListener::taken);
  }
  [[nodiscard]] std::vector<Field> finish(Finished& finished) override {
    return before_position_term(describe(finished.keep(sum_.covariances())), stack());
  }

 private:
  void add(CrossCovarianceSum& sum, DocumentCovariances&& found) const override { sum.add(std::move(found)); }
  void join(CrossCovarianceSum& sum, CrossCovarianceSum&& next) const override { sum.join(std::move(next)); }
};

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
  // Row means of Q S K^T are Q S times the mean key: take it away from the keys, and the weighted sum is centred.
  const Vector mean_key = waves.key.colwise().mean().transpose();
  const Vector along = product(waves.query, gain.cwiseProduct(mean_key));
  const Vector before = prefix_sums(along);
  result.weighted_centred.resize(2 * length - 1);
  for (Index t = 1 - length; t < length; ++t) {
    const Index first = std::max<Index>(0, -t), end = std::min(length, length - t);
    result.weighted_centred[t + length - 1] = result.weighted[t + length - 1] - (before[end] - before[first]);
  }
  result.key_only_share = key_only_share(waves, waves.key.rowwise() - mean_key.transpose());
  return result;
}

double weighted_sum_residual(const HeadWaves& waves, const CrossCovariance& covariance) {
  constexpr Index block = 256;  // query rows at a time: long documents have many scores
  const Index length = waves.length();
  const Matrix gained = waves.query * waves.head->svd.gain.head(waves.rank()).asDiagonal();
  Vector traces = Vector::Zero(2 * length - 1);
  for (Index first = 0; first < length; first += block) {
    const Index rows = std::min(block, length - first);
    const Matrix scores = product(gained.middleRows(first, rows), waves.key.transpose());
    for (Index i = 0; i < rows; ++i) traces.segment(length - 1 - first - i, length) += scores.row(i).transpose();
  }
  const double largest = std::max(covariance.weighted.cwiseAbs().maxCoeff(), traces.cwiseAbs().maxCoeff());
  return largest > 0 ? (traces - covariance.weighted).cwiseAbs().maxCoeff() / largest : 0.0;
}

DocumentCovariances::DocumentCovariances(Index rows, Index components, Index reach_asked) : reach(reach_asked) {
  for (Matrix* matrix : {&covariance, &correlation, &unbiased})
    *matrix = Matrix::Constant(rows * components, 2 * reach + 1, not_defined);
  for (Matrix* matrix : {&weighted, &weighted_centred}) *matrix = Matrix::Constant(rows, 2 * reach + 1, not_defined);
  key_only_share = residual = Vector::Constant(rows, not_defined);
}

void DocumentCovariances::add(const HeadWaves& waves, Index components, bool check) {
  const CrossCovariance found = cross_covariance(waves, reach);
  const Index near = std::min(reach, waves.length() - 1);
  const Index from = waves.length() - 1 - near, to = reach - near, width = 2 * near + 1;
  const Index first = component_row(waves.row, 0, components);
  covariance.block(first, to, waves.rank(), width) = found.covariance.middleCols(from, width);
  correlation.block(first, to, waves.rank(), width) = found.correlation;
  unbiased.block(first, to, waves.rank(), width) = found.unbiased;
  weighted.row(waves.row).segment(to, width) = found.weighted.segment(from, width).transpose();
  weighted_centred.row(waves.row).segment(to, width) = found.weighted_centred.segment(from, width).transpose();
  key_only_share[waves.row] = found.key_only_share;
  if (check) residual[waves.row] = weighted_sum_residual(waves, found);
}

CrossCovarianceSum::CrossCovarianceSum(HeadGrid grid, Index components, Index reach, Index length, double score_scale) {
  const Index rows = grid.rows();
  sum_.grid = std::move(grid);
  sum_.components = components;
  sum_.reach = reach;
  sum_.length = length;
  sum_.score_scale = score_scale;
  for (Matrix* matrix : {&sum_.covariance, &sum_.correlation, &sum_.unbiased})
    *matrix = Matrix::Zero(rows * components, 2 * reach + 1);
  sum_.weighted = sum_.weighted_centred = Matrix::Zero(rows, 2 * reach + 1);
  sum_.key_only_share = sum_.residual = Vector::Zero(rows);
}

void CrossCovarianceSum::add(DocumentCovariances&& document) {
  sum_.covariance += document.covariance;
  sum_.correlation += document.correlation;
  sum_.unbiased += document.unbiased;
  sum_.weighted += document.weighted;
  sum_.weighted_centred += document.weighted_centred;
  sum_.key_only_share += document.key_only_share;
  if (sum_.documents == 0) sum_.residual = document.residual;
  sum_.weighted_by_document.push_back(std::move(document.weighted_centred));
  ++sum_.documents;
}

void CrossCovarianceSum::join(CrossCovarianceSum&& next) {
  sum_.covariance += next.sum_.covariance;
  sum_.correlation += next.sum_.correlation;
  sum_.unbiased += next.sum_.unbiased;
  sum_.weighted += next.sum_.weighted;
  sum_.weighted_centred += next.sum_.weighted_centred;
  sum_.key_only_share += next.sum_.key_only_share;
  if (sum_.documents == 0) sum_.residual = next.sum_.residual;
  append(sum_.weighted_by_document, std::move(next.sum_.weighted_by_document));
  sum_.documents += next.sum_.documents;
}

CrossCovariances CrossCovarianceSum::covariances() const {
  CrossCovariances means = sum_;
  const auto documents = static_cast<double>(std::max<Index>(1, means.documents));
  for (Matrix* matrix :
       {&means.covariance, &means.correlation, &means.unbiased, &means.weighted, &means.weighted_centred})
    *matrix /= documents;
  means.key_only_share /= documents;
  return means;
}

std::vector<Field> describe(const CrossCovariances& covariances) {
  const Axis layer = layer_axis(covariances.grid.layers), head = head_axis(covariances.grid.heads);
  const Axis lag = offset_axis("lag", -covariances.reach, covariances.reach);
  const std::vector<Axis> columns{layer, head, component_axis(covariances.components), lag};
  const char* const no_pair = "no pair at that lag";
  const char* const no_column = "beyond the head's rank, or no pair at that lag";
  Fields fields("cross_covariance");
  fields
      .add("weighted", {layer, head, lag}, "1",
           "sum of column cross-covariances weighted by gain: unscaled scores summed along a diagonal",
           covariances.weighted)
      .undefined(no_pair);
  fields
      .add("weighted_centred", {layer, head, lag}, "1",
           "the same of scores without their row means, which the softmax cannot see", covariances.weighted_centred)
      .undefined(no_pair);
  fields
      .add("weighted_by_document", {document_axis(covariances.documents), layer, head, lag}, "1",
           "weighted_centred of one document", covariances.weighted_by_document)
      .undefined(no_pair);
  fields.add("identity_residual", {layer, head}, "1",
             "largest relative difference between the weighted sum and the traces of the scores, first document",
             covariances.residual);
  fields.add("key_only_share", {layer, head}, "1", "share of the key-only term b_Q.k in the row-centred score variance",
             covariances.key_only_share);
  fields
      .add("covariance", columns, "1", "biased cross-covariance of redefined query and key columns",
           covariances.covariance)
      .undefined(no_column);
  fields
      .add("correlation", columns, "1",
           "cross-correlation of redefined query and key columns, less its mean over all lags", covariances.correlation)
      .undefined(no_column);
  fields
      .add("unbiased", columns, "1", "cross-covariance of centred columns divided by the number of pairs",
           covariances.unbiased)
      .undefined(no_column);
  fields.note_all("length", covariances.length).note_all("documents", covariances.documents);
  return fields.taken();
}

const AnalysisKind& cross_covariance_analysis() {
  static const AnalysisKind kind{.name = "cross_covariance",
                                 .finds = "query and key columns lag by lag, and their weighted sum",
                                 .step = Step::waves,
                                 .needs = {Need::weights, Need::states, Need::equal_length},
                                 .reads = {qk_svd_analysis},
                                 .chain = true,
                                 .make = make_of<CrossCovarianceAnalysis>};
  return kind;
}

}  // namespace headwave
