#include "position_correlation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "../../core/algebra/decompositions.h"
#include "../../core/algebra/product.h"
#include "../../core/fields/fields.h"
#include "../../core/model/layer_positions.h"
#include "../../core/numbers/random.h"
#include "../../core/process/threads.h"
#include "position_components.h"

namespace headwave {

namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();
constexpr double eps32 = std::numeric_limits<float>::epsilon();

/// Sxx with columns scaled to unit variance.
struct Covariance {
  Matrix scaled;     ///< (d, d)
  Vector inverse;    ///< (d)  1 / sqrt(Sxx_jj); 0 for a column that does not vary
  Vector tolerance;  ///< (d)  what of the scaled variance may be rounding
};

/// The independent columns and what Sxx is made of there: scaled(column_i, column_j) = (factor factor^T)(i,
/// j).
struct IndependentColumns {
  std::vector<Index> column;
  Matrix factor;  ///< (columns, columns) lower triangle
};

Covariance covariance(const StateMoments& layer) {
  const auto tokens = static_cast<double>(layer.tokens());
  const Eigen::RowVectorXd mean = layer.position_sum.colwise().sum() / tokens;
  Matrix sxx = layer.second_sum;
  sxx.noalias() -= tokens * (mean.transpose() * mean);
  if (!are_finite(sxx)) throw NumericError("position_correlation: second moments are not finite");
  const Index d = layer.d_model();
  const double share = std::pow(static_cast<double>(d) * eps32, 2) + 64 * eps;
  Covariance result{{}, Vector::Zero(d), Vector::Zero(d)};
  for (Index j = 0; j < d; ++j) {
    const double raw = layer.second_sum(j, j);
    if (!(sxx(j, j) > share * raw)) continue;  // does not vary: scaled to zeros, and so never chosen
    result.inverse(j) = 1.0 / std::sqrt(sxx(j, j));
    result.tolerance(j) = share * raw / sxx(j, j);
  }
  result.scaled = result.inverse.asDiagonal() * sxx * result.inverse.asDiagonal();
  return result;
}

/// Cholesky's factorisation with the largest pivot first, until no column has more left than its tolerance.
/// (Eigen's LDLT chooses pivots by diagonals that it has not yet reduced: it does not find the rank.)
IndependentColumns independent_columns(const Covariance& covariance) {
  const Index d = covariance.scaled.rows();
  std::vector<Index> order(static_cast<std::size_t>(d));
  std::iota(order.begin(), order.end(), Index{0});
  const auto at = [&](Index i) -> Index& { return order[static_cast<std::size_t>(i)]; };
  Vector left = covariance.scaled.diagonal();  // unexplained share of each column's variance, in `order`
  Matrix factor = Matrix::Zero(d, d);          // rows in `order`
  Index k = 0;
  for (; k < d; ++k) {
    Index chosen = -1;
    for (Index i = k; i < d; ++i)
      if (left(i) > covariance.tolerance(at(i)) && (chosen < 0 || left(i) > left(chosen))) chosen = i;
    if (chosen < 0) break;
    std::swap(at(k), at(chosen));
    std::swap(left(k), left(chosen));
    factor.row(k).swap(factor.row(chosen));
    factor(k, k) = std::sqrt(left(k));
    const Index below = d - k - 1;
    Vector column(below);
    for (Index i = 0; i < below; ++i) column(i) = covariance.scaled(at(k), at(k + 1 + i));
    column -= product(factor.block(k + 1, 0, below, k), factor.row(k).head(k).transpose());
    factor.col(k).tail(below) = column / factor(k, k);
    left.tail(below) -= factor.col(k).tail(below).cwiseAbs2();
  }
  order.resize(static_cast<std::size_t>(k));
  return {std::move(order), factor.topLeftCorner(k, k)};
}

}  // namespace

Matrix whitened_positions(const StateMoments& layer) {
  const Covariance sxx = covariance(layer);
  const IndependentColumns independent = independent_columns(sxx);
  const auto variables = static_cast<Index>(independent.column.size());
  Matrix whitened(variables, layer.length());
  for (Index i = 0; i < variables; ++i) {
    const Index j = independent.column[static_cast<std::size_t>(i)];
    whitened.row(i) = sxx.inverse(j) * layer.position_sum.col(j).transpose();
  }
  whitened.colwise() -= whitened.rowwise().mean().eval();
  independent.factor.triangularView<Eigen::Lower>().solveInPlace(whitened);
  return whitened / std::sqrt(static_cast<double>(layer.documents));
}

namespace {

void check(const std::vector<StateMoments>& layers, const std::vector<Index>& layer_numbers, MatrixView positions,
           const PositionCorrelationOptions& options) {
  check_layers(layers, layer_numbers, "position_correlation");
  if (!positions.empty() && positions.rows() != layers.front().length())
    throw ShapeError(
        fmt::format("position_correlation: {} positions came with documents of {} tokens; give the rows "
                    "that these tokens read",
                    positions.rows(), layers.front().length()));
  for (const Index r : options.truncations)
    if (r < 1) throw ShapeError(fmt::format("position_correlation: a truncation to {} components; expected >= 1", r));
}

/// Singular values of the first r columns of L^-1 Sxy Syy^(-1/2), descending; NaN beyond `size`.
Vector correlations(const Matrix& along, Index r, Index size) {
  Vector result = Vector::Constant(size, not_defined);
  const Index count = std::min(r, along.rows());
  if (count == 0) return result;
  result.head(count) = thin_svd(along.leftCols(r)).s.cwiseMin(1.0);  // above 1 by rounding only
  return result;
}

/// Canonical correlations of one layer with `y`, one row per truncation.
Matrix layer_correlations(const Matrix& whitened, const Matrix& y, const std::vector<Index>& truncations) {
  const Matrix along = product(whitened, y);
  Matrix result(static_cast<Index>(truncations.size()), y.cols());
  for (Index i = 0; i < result.rows(); ++i)
    result.row(i) = correlations(along, truncations[static_cast<std::size_t>(i)], y.cols()).transpose();
  return result;
}

Matrix shuffled_rows(const Matrix& y, Random random) {
  std::vector<Index> order(static_cast<std::size_t>(y.rows()));
  std::iota(order.begin(), order.end(), Index{0});
  random.shuffle(order);
  Matrix result(y.rows(), y.cols());
  for (Index i = 0; i < y.rows(); ++i) result.row(i) = y.row(order[static_cast<std::size_t>(i)]);
  return result;
}

class PositionCorrelationAnalysis : public Analysis {
 public:
  using Analysis::Analysis;
  [[nodiscard]] std::vector<Field> finish(Finished& finished) override {
    PositionCorrelationOptions correlation;
    correlation.seed = options().seed;
    correlation.threads = input().threads;
    return describe(position_correlation(finished.get<LayerMoments>().layers, site().grid.layers,
                                         position_rows(stack(), site().length), correlation));
  }
};

}  // namespace

PositionCorrelation position_correlation(const std::vector<StateMoments>& layers,
                                         const std::vector<Index>& layer_numbers, MatrixView positions,
                                         const PositionCorrelationOptions& options) {
  check(layers, layer_numbers, positions, options);
  PositionCorrelation result;
  result.options = options;
  result.layers = layer_numbers;
  result.documents = layers.front().documents;
  result.length = layers.front().length();
  result.d_model = layers.front().d_model();
  const PositionComponents components = position_components(positions);
  result.rank = components.rank;
  result.undefined = components.undefined;
  if (result.undefined.empty() && result.documents == 0) result.undefined = "no documents";
  std::vector<Index>& truncations = result.truncations;
  for (const Index r : options.truncations)
    if (r <= result.rank) truncations.push_back(r);
  std::sort(truncations.begin(), truncations.end());
  truncations.erase(std::unique(truncations.begin(), truncations.end()), truncations.end());
  if (result.undefined.empty() && truncations.empty())
    result.undefined = fmt::format("the positions have rank {}, below every truncation asked for", result.rank);
  if (!result.undefined.empty()) return result;

  // Syy of the scores is D S^2: with the orthonormal U in their place it is D.
  Matrix y = components.scores(truncations.back());
  y.colwise().normalize();
  const auto rows = static_cast<Index>(truncations.size());
  const auto count = static_cast<Index>(layers.size());
  result.correlation.resize(rows * count, y.cols());
  result.chance_mean = result.chance_largest = Matrix::Constant(rows * count, y.cols(), not_defined);
  result.variables.resize(layers.size());
  parallel_for(count, options.threads, [&](Index l) {
    const Matrix whitened = whitened_positions(layers[static_cast<std::size_t>(l)]);
    result.variables[static_cast<std::size_t>(l)] = whitened.rows();
    result.correlation.middleRows(l * rows, rows) = layer_correlations(whitened, y, truncations);
    if (options.draws < 1) return;
    Matrix sum = Matrix::Zero(rows, y.cols());
    Matrix largest = Matrix::Zero(rows, y.cols());
    for (Index draw = 0; draw < options.draws; ++draw) {
      const Random random = Random(options.seed).stream(static_cast<std::uint64_t>(draw));
      const Matrix chance = layer_correlations(whitened, shuffled_rows(y, random), truncations);
      sum += chance;
      largest = chance.array().isNaN().select(chance, largest.cwiseMax(chance));
    }
    result.chance_mean.middleRows(l * rows, rows) = sum / static_cast<double>(options.draws);
    result.chance_largest.middleRows(l * rows, rows) = largest;
  });
  return result;
}

std::vector<Field> describe(const PositionCorrelation& correlations) {
  const char* const correlation = "canonical correlation of hidden states with positions";
  Fields fields("position_correlation");
  fields.note_all("documents", correlations.documents)
      .note_all("T", correlations.length)
      .note_all("tokens", correlations.documents * correlations.length)
      .note_all("d_model", correlations.d_model)
      .note_all("rank", correlations.rank);
  if (!correlations.undefined.empty())
    return fields.absent("correlation", "1", correlation, correlations.undefined).taken();

  const PositionCorrelationOptions& options = correlations.options;
  const Axis layer = layer_axis(correlations.layers);
  const Axis truncation{"truncation", "1", "principal components of the positions that are kept",
                        std::vector<std::int64_t>(correlations.truncations.begin(), correlations.truncations.end())};
  const Axis component = counting_axis("component", "1", "canonical component, the largest correlation is 1", 1,
                                       correlations.correlation.cols());
  const std::vector<Axis> axes{layer, truncation, component};
  const char* const beyond = "there are no more components than principal components kept or independent columns";
  const char* const no_chance = options.draws < 1 ? "no draws" : beyond;
  fields.add("correlation", axes, "1", correlation, correlations.correlation).undefined_if_any(beyond);
  fields.add("chance_mean", axes, "1", "canonical correlation with shuffled positions, mean over draws",
             correlations.chance_mean);
  fields.undefined_if_any(no_chance);
  fields.add("chance_largest", axes, "1", "canonical correlation with shuffled positions, largest over draws",
             correlations.chance_largest);
  fields.undefined_if_any(no_chance);
  fields.add("variables", {layer}, "1", "linearly independent columns of the hidden states",
             std::vector<double>(correlations.variables.begin(), correlations.variables.end()));
  fields.note_all("by_construction", "1 where tokens - 1 do not outnumber d_model, and near 1 where they hardly do")
      .note_all("draws", options.draws)
      .note_all("seed", options.seed);
  return fields.taken();
}

const AnalysisKind& position_correlation_analysis() {
  static const AnalysisKind kind{.name = "position_correlation",
                                 .asks = "How much of the positions do hidden states keep, layer by layer (CCA)?",
                                 .needs = {Need::positions, Need::weights, Need::states, Need::equal_length},
                                 .reads = {state_moments_analysis},
                                 .chain = true,
                                 .make = make_of<PositionCorrelationAnalysis>};
  return kind;
}

}  // namespace headwave
