#include "position_correlation.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "../../core/algebra/product.h"
#include "../../core/algebra/thin_svd.h"
#include "../../core/fields/fields.h"
#include "../../core/model/layer_positions.h"
#include "../../core/numbers/random.h"
#include "../../core/process/threads.h"
#include "position_components.h"
#include "whitened_positions.h"

namespace headwave {

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
    return describe(position_correlation(finished.get<JobMoments>().layers, site().grid.layers,
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
  result.documents = layers.front().documents();
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
  const char* const one = "1 where tokens - 1 do not outnumber d_model, and near 1 where they hardly do";
  fields.add("correlation", axes, "1", correlation, correlations.correlation)
      .undefined_if_any(beyond)
      .note("by_construction", one);
  fields.add("chance_mean", axes, "1", "the same with positions shuffled, mean over draws", correlations.chance_mean)
      .undefined_if_any(options.draws < 1 ? "no draws" : beyond)
      .note("by_construction", one)
      .note("draws", options.draws)
      .note("seed", options.seed);
  fields
      .add("chance_largest", axes, "1", "the same with positions shuffled, largest over draws",
           correlations.chance_largest)
      .undefined_if_any(options.draws < 1 ? "no draws" : beyond)
      .note("by_construction", one)
      .note("draws", options.draws)
      .note("seed", options.seed);
  fields.add("variables", {layer}, "1", "linearly independent columns of the hidden states",
             std::vector<double>(correlations.variables.begin(), correlations.variables.end()));
  return fields.taken();
}

const AnalysisKind& position_correlation_analysis() {
  static const AnalysisKind kind{.name = "position_correlation",
                                 .finds = "canonical correlations (CCA) of hidden states and positions, by layer",
                                 .step = Step::positions,
                                 .needs = {Need::positions, Need::weights, Need::states, Need::equal_length},
                                 .reads = {state_moments_analysis},
                                 .chain = true,
                                 .make = make_of<PositionCorrelationAnalysis>};
  return kind;
}

}  // namespace headwave
