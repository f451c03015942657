#include "position_atlas.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "../../core/algebra/decompositions.h"
#include "../../core/algebra/product.h"
#include "../../core/attention/position_term.h"
#include "../../core/fields/fields.h"
#include "../../core/model/layer_positions.h"
#include "../../core/numbers/lagged_sums.h"
#include "../../core/numbers/offset_peak.h"
#include "../../core/process/threads.h"
#include "../positions/position_spectrum.h"
#include "../statistics/quantile.h"

namespace headwave {

namespace {

/// Equations (3) and (4).
struct ToeplitzShares {
  double all = not_defined, others = not_defined;
};

/// @param rounding  energies up to here are none
ToeplitzShares toeplitz_shares(const Vector& sums, double energy, double rounding) {
  const Index length = (sums.size() + 1) / 2;
  const auto explained = [&](Index t) {
    return sums[t + length - 1] * sums[t + length - 1] / static_cast<double>(length - std::abs(t));
  };
  double others = 0;
  for (Index t = 1; t < length; ++t) others += explained(t) + explained(-t);
  const double rest = energy - explained(0);
  ToeplitzShares shares;
  if (energy > rounding) shares.all = (others + explained(0)) / energy;
  if (rest > rounding) shares.others = others / rest;
  return shares;
}

/// Means along diagonals of what is the same in every row.
/// @param row  (T)
Vector means_along(const Vector& row) {
  const Index length = row.size();
  Vector sums = Vector::Zero(length + 1), means(2 * length - 1);
  for (Index j = 0; j < length; ++j) sums[j + 1] = sums[j] + row[j];
  for (Index t = 1 - length; t < length; ++t)
    means[t + length - 1] =
        (sums[std::min(length, length + t)] - sums[std::max<Index>(0, t)]) / static_cast<double>(length - std::abs(t));
  return means;
}

}  // namespace

PositionNull::PositionNull(MatrixView positions, Index d_head, const PositionNullOptions& options) : options_(options) {
  if (d_head > positions.cols())
    throw ShapeError(fmt::format("PositionNull: heads of width {} in states of width {}", d_head, positions.cols()));
  spectra_.resize(static_cast<std::size_t>(std::max<Index>(0, options.draws)));
  grams_.resize(spectra_.size());
  parallel_for(draws(), options.threads, [&](Index draw) {
    Random random = Random(options.seed).stream(static_cast<std::uint64_t>(draw));
    Matrix seen = product(positions, random_frame(positions.cols(), d_head, random));
    seen.rowwise() -= seen.colwise().mean().eval();
    spectra_[static_cast<std::size_t>(draw)] = padded_spectrum(seen);
    grams_[static_cast<std::size_t>(draw)] = gram_of(seen);
  });
}

PositionKernel position_kernel(MatrixView positions, const HeadWeights& head, const PositionNull& null) {
  const Index length = positions.rows();
  if (length < 1 || positions.cols() != head.query.rows() || head.key.rows() != head.query.rows() ||
      head.key.cols() != head.query.cols())
    throw ShapeError(
        fmt::format("position_kernel: positions ({}, {}), W_Q ({}, {}), W_K ({}, {}); expected rows, and "
                    "weights of their width",
                    length, positions.cols(), head.query.rows(), head.query.cols(), head.key.rows(), head.key.cols()));
  const Matrix a = product(positions, head.query);
  Matrix b = product(positions, head.key);
  const double rounding =
      std::numeric_limits<double>::epsilon() * static_cast<double>(length) * a.squaredNorm() * b.squaredNorm();
  b.rowwise() -= b.colwise().mean().eval();  // takes the row means of A B^T away
  const MatrixC spectrum_a = padded_spectrum(a), spectrum_b = padded_spectrum(b);
  if (null.draws() > 0 &&
      (null.spectrum(0).rows() != spectrum_a.rows() || null.spectrum(0).cols() != spectrum_a.cols()))
    throw ShapeError(
        fmt::format("position_kernel: a null of spectra ({}, {}) for spectra ({}, {}); expected one of the "
                    "same positions and head width",
                    null.spectrum(0).rows(), null.spectrum(0).cols(), spectrum_a.rows(), spectrum_a.cols()));
  const Vector sums = lagged_sums(spectrum_a, spectrum_b);
  const Matrix gram_a = gram_of(a);
  const double energy = gram_a.cwiseProduct(gram_of(b)).sum();
  const ToeplitzShares shares = toeplitz_shares(sums, energy, rounding);

  PositionKernel result;
  result.kernel.resize(2 * length - 1);
  for (Index t = 1 - length; t < length; ++t)
    result.kernel[t + length - 1] = sums[t + length - 1] / static_cast<double>(length - std::abs(t));
  result.toeplitz_r2 = shares.all;
  result.other_r2 = shares.others;

  const bool drawn = null.draws() > 0 && !std::isnan(shares.all);
  const Matrix factor = drawn ? thin_qr(head.key).r : Matrix();
  result.null_other_r2.resize(drawn ? null.draws() : 0);
  for (Index draw = 0; draw < result.null_other_r2.size(); ++draw) {
    const MatrixC turned = product_with_real(null.spectrum(draw), factor);
    const Matrix turned_gram = product(factor.transpose(), product(null.gram(draw), factor));
    const double turned_energy = gram_a.cwiseProduct(turned_gram).sum();
    result.null_other_r2[draw] = toeplitz_shares(lagged_sums(spectrum_a, turned), turned_energy, rounding).others;
  }
  // With the bias every row gains b_Q . k_j.
  result.with_bias = result.kernel + means_along(product(b, head.query_bias));
  return result;
}

namespace {

/// The layers asked for whose projections are there: of a partial checkpoint not all may be.
HeadGrid known_grid(const Stack& stack, const std::vector<Index>& asked) {
  HeadGrid grid{{}, stack.block.heads};
  for (Index layer = 0; layer < stack.layers(); ++layer) {
    const Block& block = stack.blocks[static_cast<std::size_t>(layer)];
    const bool normed = stack.block.norm_place == NormPlace::post || !block.self_norm.empty();
    const bool wanted = asked.empty() || std::ranges::binary_search(asked, layer);
    if (wanted && !block.self.query.empty() && !block.self.key.empty() && normed) grid.layers.push_back(layer);
  }
  return grid;
}

/// What one head's kernel predicts, told from chance or not: its maximum, and the softmax there of what was
/// searched.
void set_estimate(PositionAtlas& atlas, Index row, bool causal) {
  const Vector kernel = atlas.kernel.row(row).head(causal ? atlas.reach + 1 : 2 * atlas.reach + 1).transpose();
  const auto peak = offset_peak(atlas.kernel.row(row).transpose(), causal);
  if (!peak) return;
  atlas.weight[row] = 1 / (kernel.array() - kernel[atlas.reach + peak->offset]).exp().sum();
  atlas.chance[row] = 1 / static_cast<double>(kernel.size());
  if (!peak->at_edge) atlas.estimate[row] = static_cast<double>(peak->offset);
}

PredictedStatus status_of(const PositionAtlas& atlas, Index row) {
  if (std::isnan(atlas.weight[row])) return PredictedStatus::nothing;
  const bool null = atlas.options.null.draws > 0 && atlas.estimate[row] != 0;
  if (null && !(atlas.q_value[row] <= atlas.options.null.level)) return PredictedStatus::chance;
  if (std::isnan(atlas.estimate[row])) return PredictedStatus::edge;
  return atlas.weight[row] < atlas.options.least_times * atlas.chance[row] ? PredictedStatus::weak
                                                                           : PredictedStatus::offset;
}

/// What layers see, where there are words; without them positions as the embedding gives them.
std::unique_ptr<EmbeddingMeans> means_of(const Stack& stack, const PositionAtlas& atlas, int threads) {
  if (stack.embedding.words.empty()) return nullptr;
  return std::make_unique<EmbeddingMeans>(stack, atlas.length, threads);
}

/// scale tr(W_Q^T C W_K); 0 without words.
double own_token_term(const Matrix& covariance, const HeadWeights& head, double scale) {
  return covariance.size() == 0 ? 0.0 : scale * product(covariance, head.key).cwiseProduct(head.query).sum();
}

/// What positions alone predict of the heads that are measured, over as many tokens as the longest document
/// has.
class PositionAtlasAnalysis : public Analysis {
 public:
  using Analysis::Analysis;
  [[nodiscard]] std::vector<Field> finish(Finished& /*finished*/) override {
    PositionAtlasOptions atlas;
    atlas.layers = site().grid.layers;
    atlas.length = std::min(input().longest, rows_to_read(stack(), options()[rows_option]));
    atlas.reach = options().reach;
    atlas.null.draws = options()[atlas_draws_option];
    atlas.null.level = options().fdr;
    atlas.null.seed = options().seed;
    atlas.threads = input().threads;
    std::vector<Field> fields = describe(position_atlas(stack(), atlas));
    append(fields, position_term_fields(stack(), options().reach));
    return fields;
  }
};

std::unique_ptr<Analysis> make_position_atlas(const AnalysisInput& input) {
  return input.knows_positions() ? std::make_unique<PositionAtlasAnalysis>(input) : nullptr;
}

}  // namespace

PositionAtlas position_atlas(const Stack& stack, const PositionAtlasOptions& options) {
  PositionAtlas atlas;
  atlas.grid = known_grid(stack, options.layers);
  atlas.options = options;
  const Index rows = atlas.grid.rows();
  for (Vector* vector :
       {&atlas.toeplitz_r2, &atlas.other_r2, &atlas.other_null_quantile, &atlas.p_value, &atlas.q_value,
        &atlas.estimate, &atlas.own_token_term, &atlas.weight, &atlas.chance, &atlas.offset})
    *vector = Vector::Constant(rows, not_defined);
  const Index positions = stack.embedding.positions.rows();
  atlas.status.assign(static_cast<std::size_t>(rows), PredictedStatus::nothing);
  atlas.undefined = positions == 0 ? "no position table"
                    : rows == 0    ? "no layer's query and key projections"
                                   : not_bilinear(stack);
  if (!atlas.undefined.empty()) return atlas;
  atlas.length = options.length > 0 ? options.length : trained_rows(stack.embedding.positions).trained;
  if (atlas.length > positions)
    throw ShapeError(fmt::format("position_atlas: a length of {} was asked for, the model has {} positions",
                                 atlas.length, positions));
  atlas.reach = std::min(options.reach, atlas.length - 1);
  atlas.kernel.resize(rows, 2 * atlas.reach + 1);
  Matrix null_other_r2 = Matrix::Constant(rows, options.null.draws, not_defined);
  const int threads = thread_count(options.threads);
  PositionNullOptions drawn = options.null;
  drawn.threads = threads;
  const std::unique_ptr<EmbeddingMeans> means = means_of(stack, atlas, threads);
  for (const Index layer : atlas.grid.layers) {
    const Matrix seen = means ? means->positions(layer) : Matrix(layer_positions(stack, layer).topRows(atlas.length));
    const Matrix covariance = means ? means->word_covariance(layer) : Matrix();
    const PositionNull null(seen, stack.block.d_head, drawn);
    const std::shared_ptr<const Block> block = stack.queries_and_keys(layer);
    parallel_for(atlas.grid.heads, threads, [&](Index head) {
      const Index row = atlas.grid.first_row(layer) + head;
      const HeadWeights weights = head_weights(block->self, stack.block, head);
      const PositionKernel found = position_kernel(seen, weights, null);
      const auto near = found.with_bias.segment(atlas.length - 1 - atlas.reach, atlas.kernel.cols());
      atlas.kernel.row(row) = stack.block.score_scale * near.transpose();
      atlas.own_token_term[row] = own_token_term(covariance, weights, stack.block.score_scale);
      atlas.kernel(row, atlas.reach) += atlas.own_token_term[row];
      atlas.toeplitz_r2[row] = found.toeplitz_r2;
      atlas.other_r2[row] = found.other_r2;
      if (found.null_other_r2.size() > 0) null_other_r2.row(row) = found.null_other_r2.transpose();
      if (atlas.kernel.row(row).cwiseAbs().maxCoeff() > 0) set_estimate(atlas, row, stack.block.causal);
    });
  }
  atlas.p_value = pooled_p_values(atlas.other_r2, null_other_r2, NullScale::share);
  atlas.q_value = q_values(atlas.p_value);
  for (Index row = 0; row < rows; ++row) {
    const PredictedStatus status = atlas.status[static_cast<std::size_t>(row)] = status_of(atlas, row);
    if (status == PredictedStatus::offset) atlas.offset[row] = atlas.estimate[row];
  }
  atlas.other_null_quantile = row_quantiles(null_other_r2, 1 - options.null.level);
  return atlas;
}

std::vector<Field> describe(const PositionAtlas& atlas) {
  const Axis layer = layer_axis(atlas.grid.layers), head = head_axis(atlas.grid.heads);
  const std::vector<Axis> heads{layer, head};
  const PositionNullOptions& null = atlas.options.null;
  const std::string reason = atlas.undefined.empty() ? "the scores do not depend on position" : atlas.undefined;
  const std::string no_null = reason + ", or no null was drawn";
  Fields fields("position_atlas");
  fields.note_all("layers_above_0", "proxy: positions and words as the embedding gives them");
  fields.add("predicted_offset", heads, "token", "offset that the weights alone predict", atlas.offset,
             atlas.undefined.empty() ? "position_atlas/status says why" : atlas.undefined);
  fields.add("toeplitz_r2", heads, "1", "share of the scores between positions that depends on their offset alone",
             atlas.toeplitz_r2, reason);
  if (!atlas.undefined.empty()) return fields.taken();

  add_status(fields, heads, atlas.status).note("least_times", atlas.options.least_times);
  fields.add("predicted_weight", heads, "1",
             "softmax of the kernel at its maximum: the share of attention over the offsets searched", atlas.weight,
             reason);
  fields.add("chance", heads, "1", "weight there if the kernel were flat: one part for each offset searched",
             atlas.chance, reason);
  fields.add("estimate", heads, "token", "offset of the kernel's maximum, told from chance or not", atlas.estimate,
             reason + ", or the maximum lies at the end of the search, |t| = reach");
  fields.add("other_r2", heads, "1",
             "the Toeplitz share without what each position shares with itself: what is held against chance",
             atlas.other_r2, reason);
  fields.add("other_null_quantile", heads, "1", "quantile 1 - level of other_r2 under random rotations of the keys",
             atlas.other_null_quantile, no_null);
  describe_p_values(fields, heads, atlas.p_value, atlas.q_value,
                    {"other_r2", "under random rotations of the keys, heads pooled", no_null});
  fields.add("kernel", {layer, head, offset_axis("offset", -atlas.reach, atlas.reach)}, "1",
             "mean scaled score at an offset of positions averaged over words, row means removed, with b_Q and "
             "own_token_term",
             atlas.kernel);
  fields.add("own_token_term", heads, "1", "what a token's word adds to the scaled score of the token with itself",
             atlas.own_token_term);
  fields.note_all("length", atlas.length)
      .note_all("reach", atlas.reach)
      .note_all("level", null.level)
      .note_all("draws", null.draws)
      .note_all("seed", null.seed);
  return fields.taken();
}

std::vector<Field> position_term_fields(const Stack& stack, Index reach) {
  const PositionTerm& term = stack.position_term;
  if (!term.added && !term.turned) return {};
  std::vector<Vector> kernels;
  for (Index head = 0; head < stack.block.heads; ++head)
    kernels.push_back(term.added ? term.added->kernel(head, reach) : term.turned->kernel(reach));
  Fields fields("position_term");
  fields
      .add("kernel", {head_axis(stack.block.heads), offset_axis("offset", -reach, reach)}, "1",
           term.added ? "what the position term adds to a scaled score at an offset"
                      : "factor by which the position term changes q.k of equal vectors at an offset",
           kernels)
      .note("term", std::string(term.name()));
  return fields.taken();
}

const AnalysisKind& position_atlas_analysis() {
  static const AnalysisKind kind{.name = "position_atlas",
                                 .asks = "Which offset do positions alone predict, from the weights?",
                                 .needs = {Need::positions, Need::weights},
                                 .options = {&atlas_draws_option},
                                 .one_sequence = true,
                                 .make = make_position_atlas};
  return kind;
}

}  // namespace headwave
