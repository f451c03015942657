#include "position_split.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "../../core/algebra/product.h"
#include "../../core/fields/fields.h"
#include "../../core/numbers/fft.h"
#include "../../core/process/threads.h"
#include "position_components.h"

namespace headwave {

namespace {

void check(const std::vector<StateMoments>& layers, const std::vector<Index>& layer_numbers, const SplitHeads& heads,
           const PositionSplitOptions& options) {
  check_layers(layers, layer_numbers, "position_split");
  if (heads.heads > 0 && !heads.weights)
    throw ShapeError(fmt::format("position_split: {} heads came without their weights", heads.heads));
  if (!(options.subspace_share > 0 && options.subspace_share <= 1) || options.low_frequency < 1)
    throw NumericError(
        fmt::format("position_split: a subspace of {} of the variance and low frequencies up to {}; "
                    "expected a share in (0, 1] and a frequency >= 1",
                    options.subspace_share, options.low_frequency));
}

void split_variance(PositionSplit& split, Index l, const StateParts& parts) {
  const auto documents = static_cast<double>(split.documents);
  const double position = documents * parts.position.squaredNorm();
  const double context = static_cast<double>(split.length) * parts.context.squaredNorm();
  const double residual = parts.residual.trace(), whole = position + context + residual;
  if (!(whole > 0)) return;
  split.variance_share.row(l) << position / whole, context / whole, residual / whole;
  split.noise_share(l) = split.variance_share(l, 2) / (documents - 1);
}

void split_spectrum(PositionSplit& split, Index l, const Matrix& position) {
  const Matrix amplitude = amplitude_spectrum(position);
  split.spectrum.row(l) = amplitude.rowwise().mean().transpose();
  Vector energy = 2.0 * amplitude.rowwise().squaredNorm();
  energy(0) = 0.0;
  if (split.length % 2 == 0) energy(split.length / 2) *= 0.5;  // this frequency is its own negative
  const Index low = std::min(split.options.low_frequency + 1, energy.size());
  if (energy.sum() > 0) split.low_frequency_share(l) = energy.head(low).sum() / energy.sum();
}

void split_geometry(PositionSplit& split, Index l, const StateParts& parts) {
  const PositionComponents components = position_components(parts.position);
  if (!components.undefined.empty()) return;
  // The cumulative share ends at 1 up to rounding: with a share of 1 asked for it may stay below.
  Index k = 1;
  while (k < components.rank && components.cumulative_share(k - 1) < split.options.subspace_share) ++k;
  const Matrix subspace = components.directions.leftCols(k);
  split.effective_rank(l) = 1.0 / components.share.squaredNorm();
  split.components(l) = static_cast<double>(k);
  split.chance_overlap(l) = static_cast<double>(k) / static_cast<double>(split.d_model);
  if (parts.context.squaredNorm() > 0)
    split.context_overlap(l) = product(parts.context, subspace).squaredNorm() / parts.context.squaredNorm();
  if (parts.residual.trace() > 0)
    split.residual_overlap(l) = subspace.cwiseProduct(product(parts.residual, subspace)).sum() / parts.residual.trace();
}

/// W^T C_a W of each part, (d_head, d_head). Only the residual needs a (d, d) product: the other parts have
/// low rank.
std::array<Matrix, split_parts> seen_parts(const StateParts& parts, const Matrix& weights) {
  const auto seen = [&](const Matrix& rows) -> Matrix {
    return gram_of(product(rows, weights)) / static_cast<double>(rows.rows());
  };
  const auto tokens = static_cast<double>(parts.position.rows() * parts.context.rows());
  return {seen(parts.mean), seen(parts.position), seen(parts.context),
          product(weights.transpose(), product(parts.residual, weights)) / tokens};
}

/// (5) and (6) of one head into `row`.
void split_scores(PositionSplit& split, Index row, const StateParts& parts, const HeadWeights& head, double scale) {
  if (head.query.size() == 0) return;
  if (head.query.rows() != split.d_model || head.key.rows() != split.d_model || head.key.cols() != head.query.cols())
    throw ShapeError(fmt::format("position_split: W_Q ({}, {}) and W_K ({}, {}) came with states of width {}",
                                 head.query.rows(), head.query.cols(), head.key.rows(), head.key.cols(),
                                 split.d_model));
  const std::array<Matrix, split_parts> queries = seen_parts(parts, head.query);
  const std::array<Matrix, split_parts> keys = seen_parts(parts, head.key);
  Eigen::RowVectorXd squares(split_parts * split_parts);
  for (std::size_t a = 0; a < queries.size(); ++a)
    for (std::size_t b = 0; b < keys.size(); ++b)  // below 0 by rounding only
      squares(static_cast<Index>(a) * split_parts + static_cast<Index>(b)) =
          std::max(0.0, queries[a].cwiseProduct(keys[b]).sum());
  split.mean_square_score(row) = scale * scale * squares.sum();
  if (squares.sum() > 0) split.score_share.row(row) = squares / squares.sum();
}

Axis part_axis(std::string name, std::string long_name, bool with_mean) {
  std::vector<std::string> parts{"position", "context", "residual"};
  if (with_mean) parts.insert(parts.begin(), "mean");
  return {std::move(name), "1", std::move(long_name), std::move(parts)};
}

class PositionSplitAnalysis : public Analysis {
 public:
  using Analysis::Analysis;
  [[nodiscard]] std::vector<Field> finish(Finished& finished) override {
    SplitHeads heads;
    heads.heads = stack().block.heads;
    heads.score_scale = stack().block.score_scale;
    heads.weights = [&](Index layer, Index head) {
      return head_weights(stack().queries_and_keys(layer)->self, stack().block, head);
    };
    PositionSplitOptions split;
    split.threads = input().threads;
    return describe(position_split(finished.get<LayerMoments>().layers, site().grid.layers, heads, split));
  }
};

/// Adds (5) and (6), where heads were given.
void add_scores(Fields& fields, const PositionSplit& split) {
  const Axis layer = layer_axis(split.grid.layers), head = head_axis(split.grid.heads);
  const Axis query = part_axis("query_part", "part of the query's hidden state", true);
  const Axis key = part_axis("key_part", "part of the key's hidden state", true);
  fields
      .add("mean_square_score", {layer, head}, "1", "mean squared scaled score between tokens drawn independently",
           split.mean_square_score)
      .undefined_if_any("no query and key projections of this layer");
  fields.add("score_share", {layer, head, query, key}, "1", "share of the mean squared score", split.score_share)
      .undefined_if_any("no query and key projections of this layer, or all scores are zero")
      .note("tokens",
            "query and key drawn independently from all texts; key parts mean and "
            "context do not change along a row, the softmax does not see them");
}

}  // namespace

PositionSplit position_split(const std::vector<StateMoments>& layers, const std::vector<Index>& layer_numbers,
                             const SplitHeads& heads, const PositionSplitOptions& options) {
  check(layers, layer_numbers, heads, options);
  PositionSplit split;
  split.options = options;
  split.grid = {layer_numbers, std::max<Index>(heads.heads, 0)};
  split.documents = layers.front().documents;
  split.length = layers.front().length();
  split.d_model = layers.front().d_model();
  if (split.documents < 2) {
    split.undefined =
        split.documents == 0 ? "no documents" : "one document: its words cannot be told from its positions";
    return split;
  }
  const auto count = static_cast<Index>(layers.size());
  split.variance_share = Matrix::Constant(count, 3, not_defined);
  split.spectrum = Matrix::Constant(count, split.length / 2 + 1, not_defined);
  for (Vector* vector : {&split.noise_share, &split.low_frequency_share, &split.effective_rank, &split.components,
                         &split.context_overlap, &split.residual_overlap, &split.chance_overlap})
    *vector = Vector::Constant(count, not_defined);
  split.mean_square_score = Vector::Constant(split.grid.rows(), not_defined);
  split.score_share = Matrix::Constant(split.grid.rows(), split_parts * split_parts, not_defined);
  const int threads = thread_count(options.threads);
  for (Index l = 0; l < count; ++l) {
    const StateParts parts = state_parts(layers[static_cast<std::size_t>(l)]);
    split_variance(split, l, parts);
    const Index layer = layer_numbers[static_cast<std::size_t>(l)];
    const auto split_head = [&](Index head) {
      split_scores(split, l * split.grid.heads + head, parts, heads.weights(layer, head), heads.score_scale);
    };
    parallel_for(split.grid.heads + 1, threads, [&](Index i) {
      if (i > 0) return split_head(i - 1);
      split_geometry(split, l, parts);  // takes longest: it is the first
      split_spectrum(split, l, parts.position);
    });
  }
  return split;
}

std::vector<Field> describe(const PositionSplit& split) {
  const char* const share_name = "share of the hidden states' variance";
  Fields fields("position_split");
  fields.note_all("documents", split.documents).note_all("T", split.length).note_all("d_model", split.d_model);
  if (!split.undefined.empty()) return fields.absent("variance_share", "1", share_name, split.undefined).taken();

  const Axis layer = layer_axis(split.grid.layers);
  const Axis frequency =
      counting_axis("frequency", "cycles/T", "frequency in cycles per T positions", 0, split.length / 2);
  const double subspace_share = split.options.subspace_share;
  const char* const equal = "the mean state is the same at every position";
  const char* const zero = "one of the two parts is zero";
  fields
      .add("variance_share", {layer, part_axis("part", "part of a hidden state", false)}, "1", share_name,
           split.variance_share)
      .undefined_if_any("the hidden states are all equal");
  fields
      .add("noise_share", {layer}, "1",
           "share of variance expected in the position part where nothing depends on position", split.noise_share)
      .undefined_if_any("the hidden states are all equal");
  fields.add("spectrum", {layer, frequency}, "1", "mean over columns of the position part's amplitude spectrum",
             split.spectrum);
  fields
      .add("low_frequency_share", {layer}, "1", "share of the position part's energy at low frequencies",
           split.low_frequency_share)
      .undefined_if_any(equal)
      .note("low_frequency", split.options.low_frequency);
  fields
      .add("effective_rank", {layer}, "1", "participation ratio of the position part's squared singular values",
           split.effective_rank)
      .undefined_if_any(equal);
  fields.add("components", {layer}, "1", "principal components that hold most of the position part", split.components)
      .undefined_if_any(equal)
      .note("subspace_share", subspace_share);
  fields
      .add("context_overlap", {layer}, "1", "share of the context part's variance inside these components",
           split.context_overlap)
      .undefined_if_any(zero)
      .note("subspace_share", subspace_share);
  fields
      .add("residual_overlap", {layer}, "1", "share of the residual's variance inside these components",
           split.residual_overlap)
      .undefined_if_any(zero)
      .note("subspace_share", subspace_share);
  fields
      .add("chance_overlap", {layer}, "1", "share of an isotropic part's variance inside these components",
           split.chance_overlap)
      .undefined_if_any(equal)
      .note("subspace_share", subspace_share);
  if (split.grid.heads > 0) add_scores(fields, split);
  return fields.taken();
}

const AnalysisKind& position_split_analysis() {
  static const AnalysisKind kind{.name = "position_split",
                                 .asks = "How much of hidden states is position, context and rest, layer by layer?",
                                 .needs = {Need::weights, Need::states, Need::equal_length},
                                 .reads = {state_moments_analysis},
                                 .chain = true,
                                 .make = make_of<PositionSplitAnalysis>};
  return kind;
}

}  // namespace headwave
