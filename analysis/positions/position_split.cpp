#include "position_split.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <ranges>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "../../core/algebra/decompositions.h"
#include "../../core/algebra/product.h"
#include "../../core/attention/probe.h"
#include "../../core/fields/fields.h"
#include "../../core/model/layer_positions.h"
#include "../../core/numbers/fft.h"
#include "../../core/numbers/random.h"
#include "../../core/process/threads.h"
#include "../pass/analysis.h"
#include "position_components.h"

namespace headwave {

StateMoments state_moments(MatrixView32 states) {
  if (!are_finite(states))
    throw NumericError(
        "state_moments: a hidden state is not finite; look for NaN or huge values in the model's weights");
  StateMoments moments;
  moments.documents = 1;
  moments.position_sum = states.cast<double>();
  moments.second_sum = gram_of(moments.position_sum);
  const Eigen::RowVectorXd mean = moments.position_sum.colwise().mean();
  moments.mean_values.assign(mean.begin(), mean.end());
  return moments;
}

namespace {

/// Sxx with columns scaled to unit variance.
struct Covariance {
  Matrix scaled;     ///< (d, d)
  Vector inverse;    ///< (d)  1 / sqrt(Sxx_jj); 0 for a column that does not vary
  Vector tolerance;  ///< (d)  what of the scaled variance may be rounding
};

Covariance covariance(const StateMoments& layer) {
  const auto tokens = static_cast<double>(layer.documents * layer.length());
  const Eigen::RowVectorXd mean = layer.position_sum.colwise().sum() / tokens;
  Matrix sxx = layer.second_sum;
  sxx.noalias() -= tokens * (mean.transpose() * mean);
  const Index d = layer.d_model();
  const double share =
      std::pow(static_cast<double>(d) * static_cast<double>(std::numeric_limits<float>::epsilon()), 2) +
      64 * std::numeric_limits<double>::epsilon();
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
/// @returns the independent columns, and the lower triangle: scaled(column_i, column_j) = (factor factor^T)(i, j)
std::pair<std::vector<Index>, Matrix> independent_columns(const Covariance& covariance) {
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

/// Hidden states against anything that is the same in every document: with L the Cholesky factor of the
/// covariance Sxx of one layer's independent columns,
///
///     W = L^-1 (mean over documents of x_t, less its mean over t, columns scaled) sqrt(D)
///
/// L^-1 Sxy Syy^(-1/2) of y (T, k) with orthonormal columns is W y: its singular values are the canonical correlations.
/// @returns (variables, T)  as many rows as there are independent columns
Matrix whitened_positions(const StateMoments& layer) {
  const Covariance sxx = covariance(layer);
  const auto [columns, factor] = independent_columns(sxx);
  Matrix whitened(std::ssize(columns), layer.length());
  for (Index i = 0; i < whitened.rows(); ++i) {
    const Index j = columns[static_cast<std::size_t>(i)];
    whitened.row(i) = sxx.inverse(j) * layer.position_sum.col(j).transpose();
  }
  whitened.colwise() -= whitened.rowwise().mean().eval();
  factor.triangularView<Eigen::Lower>().solveInPlace(whitened);
  return whitened / std::sqrt(static_cast<double>(layer.documents));
}

/// Canonical correlations of one layer with `y`, one row per truncation r: singular values of the first r columns of
/// L^-1 Sxy Syy^(-1/2), descending; NaN beyond them.
Matrix layer_correlations(const Matrix& whitened, const Matrix& y, const std::vector<Index>& truncations) {
  const Matrix along = product(whitened, y);
  Matrix result = Matrix::Constant(std::ssize(truncations), y.cols(), not_defined);
  for (Index i = 0; i < result.rows() && along.rows() > 0; ++i) {
    const Vector s = thin_svd(along.leftCols(truncations[static_cast<std::size_t>(i)])).s;
    result.row(i).head(s.size()) = s.cwiseMin(1.0).transpose();  // above 1 by rounding only
  }
  return result;
}

Matrix shuffled_rows(const Matrix& y, Random random) {
  std::vector<Index> order(static_cast<std::size_t>(y.rows()));
  std::iota(order.begin(), order.end(), Index{0});
  random.shuffle(order);
  return y(order, Eigen::all);
}

/// One layer's hidden states in parts, balanced over documents c and positions t: x_ct = mean + pos_t + ctx_c
/// + res_ct. What is left of a part by rounding alone is zero.
struct StateParts {
  Matrix mean;      ///< (1, d_model)
  Matrix position;  ///< (T, d_model)  pos
  Matrix context;   ///< (D, d_model)  ctx
  Matrix residual;  ///< (d_model, d_model)  sum of res^T res over all tokens
};

/// Rows without their mean, taken twice since the first is rounded; zero where they differ by less than
/// `rounding`.
Matrix deviations(Matrix rows, double rounding) {
  for (int pass = 0; pass < 2; ++pass) rows.rowwise() -= rows.colwise().mean().eval();
  if (rows.norm() <= rounding) rows.setZero();
  return rows;
}

/// With one document or one position the parts are exact: nothing is left as a residual.
StateParts state_parts(const StateMoments& layer) {
  const auto documents = static_cast<double>(layer.documents);
  const auto length = static_cast<double>(layer.length());
  const double square = layer.second_sum.trace();
  const double rounding = std::numeric_limits<double>::epsilon() *
                          (documents + length);  // of a mean over documents or positions, against its terms
  StateParts parts;
  parts.mean = layer.position_sum.colwise().sum() / (documents * length);
  parts.position = deviations(layer.position_sum / documents, rounding * std::sqrt(square / documents));
  parts.context = deviations(layer.document_means(), rounding * std::sqrt(square / length));
  parts.residual = layer.second_sum;
  parts.residual -= documents * length * gram_of(parts.mean);
  parts.residual -= documents * gram_of(parts.position);
  parts.residual -= length * gram_of(parts.context);
  if (layer.documents == 1 || layer.length() == 1 || parts.residual.trace() <= rounding * square)
    parts.residual.setZero();
  return parts;
}

/// What is said of one layer.
struct SplitLayer {
  Eigen::RowVector3d variance_share = Eigen::RowVector3d::Constant(not_defined);  ///< pos, ctx, res; they add up to 1
  Vector spectrum;  ///< (floor(T/2) + 1)  mean over columns of |DFT of pos|, not normalised
  double noise_share = not_defined, low_frequency_share = not_defined, effective_rank = not_defined,
         components = not_defined, context_overlap = not_defined, residual_overlap = not_defined,
         chance_overlap = not_defined;

  SplitLayer(const StateParts& parts, const PositionSplitOptions& options) {
    set_variance(parts);
    set_spectrum(parts.position, options.low_frequency);
    set_geometry(parts, options.subspace_share);
  }

 private:
  void set_variance(const StateParts& parts) {
    const auto documents = static_cast<double>(parts.context.rows());
    const double position = documents * parts.position.squaredNorm();
    const double context = static_cast<double>(parts.position.rows()) * parts.context.squaredNorm();
    const double residual = parts.residual.trace(), whole = position + context + residual;
    if (!(whole > 0)) return;
    variance_share << position / whole, context / whole, residual / whole;
    noise_share = variance_share(2) / (documents - 1);
  }

  void set_spectrum(const Matrix& position, Index low_frequency) {
    const Matrix amplitude = amplitude_spectrum(position);
    spectrum = amplitude.rowwise().mean();
    Vector energy = 2.0 * amplitude.rowwise().squaredNorm();
    energy(0) = 0.0;
    if (position.rows() % 2 == 0) energy(position.rows() / 2) *= 0.5;  // this frequency is its own negative
    const Index low = std::min(low_frequency + 1, energy.size());
    if (energy.sum() > 0) low_frequency_share = energy.head(low).sum() / energy.sum();
  }

  void set_geometry(const StateParts& parts, double subspace_share) {
    const PositionComponents found = position_components(parts.position);
    if (!found.undefined.empty()) return;
    // The cumulative share ends at 1 up to rounding: with a share of 1 asked for it may stay below.
    Index k = 1;
    while (k < found.rank && found.cumulative_share(k - 1) < subspace_share) ++k;
    const Matrix subspace = found.directions.leftCols(k);
    effective_rank = 1.0 / found.share.squaredNorm();
    components = static_cast<double>(k);
    chance_overlap = components / static_cast<double>(parts.mean.cols());
    if (parts.context.squaredNorm() > 0)
      context_overlap = product(parts.context, subspace).squaredNorm() / parts.context.squaredNorm();
    if (parts.residual.trace() > 0)
      residual_overlap = subspace.cwiseProduct(product(parts.residual, subspace)).sum() / parts.residual.trace();
  }
};

/// Moments of every layer of the grid.
struct LayerMoments {
  std::vector<StateMoments> layers;
};

/// Keeps moments of the states that enter each layer.
class MomentsProbe : public Probe {
 public:
  explicit MomentsProbe(const Site& site) : site_(site), found_{std::vector<StateMoments>(site.grid.layers.size())} {}
  using Probe::see;
  void see(const LayerInput& input) override {
    const Index place = site_.grid.place_of(input.layer);
    if (input.kind != site_.kind || place < 0 || input.states.rows() != site_.length) return;
    found_.layers[static_cast<std::size_t>(place)] = state_moments(input.states);
  }
  void see(const Tile& /*tile*/) override {}
  [[nodiscard]] LayerMoments taken() { return std::move(found_); }

 private:
  const Site& site_;
  LayerMoments found_;
};

struct PositionSplitAnalysis : AnalysisOf<LayerMoments> {
  using AnalysisOf::AnalysisOf;
  [[nodiscard]] std::unique_ptr<Look> look(const Document& /*document*/, Index i) const override {
    return site().number_of(i) < 0 ? nullptr : look_of<MomentsProbe>(site());
  }
  [[nodiscard]] std::vector<Field> finish_sum(LayerMoments& sum, Finished& /*finished*/) override {
    const std::vector<Index>& layers = site().grid.layers;
    std::vector<Field> fields = position_correlation(sum.layers, layers, position_rows(stack(), site().length),
                                                     {.seed = options().seed, .threads = input().threads});
    append(fields, position_split(sum.layers, layers, {.threads = input().threads}));
    return fields;
  }
};

}  // namespace

std::vector<Field> position_correlation(const std::vector<StateMoments>& layers,
                                        const std::vector<Index>& layer_numbers, MatrixView positions,
                                        const PositionCorrelationOptions& options) {
  const Index documents = layers.front().documents, length = layers.front().length();
  const PositionComponents components = position_components(positions);
  std::vector<Index> truncations;
  for (const Index r : options.truncations)
    if (r <= components.rank) truncations.push_back(r);
  std::ranges::sort(truncations);
  truncations.erase(std::unique(truncations.begin(), truncations.end()), truncations.end());
  const char* const text = "canonical correlation of hidden states with positions";
  Fields fields("position_correlation");
  fields.note_all("documents", documents)
      .note_all("T", length)
      .note_all("tokens", documents * length)
      .note_all("d_model", layers.front().d_model())
      .note_all("rank", components.rank);
  const std::string undefined =
      !components.undefined.empty() ? components.undefined
      : documents == 0              ? "no documents"
      : truncations.empty()
          ? fmt::format("the positions have rank {}, below every requested truncation", components.rank)
          : "";
  if (!undefined.empty()) return fields.absent("correlation", "1", text, undefined).taken();

  // Syy of the scores is D S^2: with the orthonormal U in their place it is D.
  Matrix y = components.coordinates.leftCols(truncations.back());
  y.colwise().normalize();
  const Index rows = std::ssize(truncations), count = std::ssize(layers);
  Matrix correlation(rows * count, y.cols());  // layers outermost; NaN beyond min(r, variables)
  Matrix chance_mean = Matrix::Constant(rows * count, y.cols(), not_defined), chance_largest = chance_mean;
  Vector variables(count);
  parallel_for(count, options.threads, [&](Index l) {
    const Matrix whitened = whitened_positions(layers[static_cast<std::size_t>(l)]);
    variables[l] = static_cast<double>(whitened.rows());
    correlation.middleRows(l * rows, rows) = layer_correlations(whitened, y, truncations);
    if (options.draws < 1) return;
    Matrix sum = Matrix::Zero(rows, y.cols()), largest = sum;
    for (Index draw = 0; draw < options.draws; ++draw) {
      const Random random = Random(options.seed).stream(static_cast<std::uint64_t>(draw));
      const Matrix chance = layer_correlations(whitened, shuffled_rows(y, random), truncations);
      sum += chance;
      largest = chance.array().isNaN().select(chance, largest.cwiseMax(chance));
    }
    chance_mean.middleRows(l * rows, rows) = sum / static_cast<double>(options.draws);
    chance_largest.middleRows(l * rows, rows) = largest;
  });

  const Axis layer = layer_axis(layer_numbers);
  const std::vector<Axis> axes{
      layer,
      {"truncation", "1", "principal components of the positions that are kept", truncations},
      counting_axis("component", "1", "canonical component, the largest correlation is 1", 1, y.cols())};
  const char* const beyond = "beyond the number of principal components kept, or of independent columns";
  const char* const no_chance = options.draws < 1 ? "no draws" : beyond;
  fields.add("correlation", axes, "1", text, correlation).undefined_if_any(beyond);
  fields.add("chance_mean", axes, "1", "canonical correlation with shuffled positions, mean over draws", chance_mean)
      .undefined_if_any(no_chance);
  fields
      .add("chance_largest", axes, "1", "canonical correlation with shuffled positions, largest over draws",
           chance_largest)
      .undefined_if_any(no_chance);
  fields.add("variables", {layer}, "1", "linearly independent columns of the hidden states", variables);
  fields
      .note_all("by_construction",
                "correlations are 1 where tokens - 1 is at most d_model, and near 1 where it is little above")
      .note_all("draws", options.draws)
      .note_all("seed", options.seed);
  return fields.taken();
}

std::vector<Field> position_split(const std::vector<StateMoments>& layers, const std::vector<Index>& layer_numbers,
                                  const PositionSplitOptions& options) {
  const Index documents = layers.front().documents, length = layers.front().length();
  const char* const share_name = "share of the hidden states' variance";
  Fields fields("position_split");
  fields.note_all("documents", documents).note_all("T", length).note_all("d_model", layers.front().d_model());
  if (documents < 2)
    return fields
        .absent("variance_share", "1", share_name,
                documents == 0 ? "no documents" : "one document: its words cannot be told from its positions")
        .taken();
  std::vector<std::optional<SplitLayer>> made(layers.size());
  parallel_for(std::ssize(layers), thread_count(options.threads), [&](Index l) {
    const auto at = static_cast<std::size_t>(l);
    made[at].emplace(state_parts(layers[at]), options);
  });

  const Axis layer = layer_axis(layer_numbers);
  const auto of = [&](auto SplitLayer::*member) {
    return made | std::views::transform([=](const auto& one) { return (*one).*member; });
  };
  const auto add = [&](const char* quantity, const char* text, double SplitLayer::*member,
                       const char* undefined) -> Fields& {
    return fields.add(quantity, {layer}, "1", text, of(member)).undefined_if_any(undefined);
  };
  const char* const equal = "the mean state is the same at every position";
  const char* const zero = "one of the two parts is zero";
  const char* const all_equal = "the hidden states are all equal";
  fields
      .add(
          "variance_share",
          {layer, {"part", "1", "part of a hidden state", std::vector<std::string>{"position", "context", "residual"}}},
          "1", share_name, of(&SplitLayer::variance_share))
      .undefined_if_any(all_equal);
  add("noise_share", "share of variance expected in the position part where nothing depends on position",
      &SplitLayer::noise_share, all_equal);
  fields.add("spectrum",
             {layer, counting_axis("frequency", "cycles/T", "frequency in cycles per T positions", 0, length / 2)}, "1",
             "mean over columns of the position part's amplitude spectrum", of(&SplitLayer::spectrum));
  add("low_frequency_share", "share of the position part's energy at low frequencies", &SplitLayer::low_frequency_share,
      equal)
      .note("low_frequency", options.low_frequency);
  add("effective_rank", "participation ratio of the position part's squared singular values",
      &SplitLayer::effective_rank, equal);
  for (const auto& [quantity, text, member, undefined] :
       {std::tuple("components", "principal components that hold most of the position part", &SplitLayer::components,
                   equal),
        {"context_overlap", "share of the context part's variance inside these components",
         &SplitLayer::context_overlap, zero},
        {"residual_overlap", "share of the residual's variance inside these components", &SplitLayer::residual_overlap,
         zero},
        {"chance_overlap", "share of an isotropic part's variance inside these components", &SplitLayer::chance_overlap,
         equal}})
    add(quantity, text, member, undefined).note("subspace_share", options.subspace_share);
  return fields.taken();
}

extern const AnalysisKind position_split_analysis{
    .name = "position_split",
    .asks = "How much of hidden states is position, context and rest, and how much of the table is left (CCA)?",
    .equal_length = true,
    .chain = true,
    .make = make_of<PositionSplitAnalysis>};

}  // namespace headwave
