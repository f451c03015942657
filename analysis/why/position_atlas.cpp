#include "position_atlas.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include <fmt/format.h>

#include "../../core/algebra/decompositions.h"
#include "../../core/algebra/product.h"
#include "../../core/attention/position_term.h"
#include "../../core/fields/fields.h"
#include "../../core/model/layer_positions.h"
#include "../../core/numbers/lagged_sums.h"
#include "../../core/numbers/offset_peak.h"
#include "../../core/process/threads.h"
#include "../pass/analysis.h"
#include "../positions/position_spectrum.h"
#include "../statistics/false_discovery.h"
#include "../statistics/quantile.h"

namespace headwave {

namespace {

/// Equations (3) and (4).
struct ToeplitzShares {
  double all = not_defined, others = not_defined;
};

/// @param rounding  energies up to this count as 0
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

/// Means along the diagonals of a T x T matrix whose rows are all the same.
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

PositionNull::PositionNull(MatrixView positions, Index d_head, Index draws, std::uint64_t seed, int threads)
    : spectra(static_cast<std::size_t>(draws)), grams(spectra.size()) {
  parallel_for(draws, threads, [&](Index draw) {
    Random random = Random(seed).stream(static_cast<std::uint64_t>(draw));
    Matrix seen = product(positions, random_frame(positions.cols(), d_head, random));
    seen.rowwise() -= seen.colwise().mean().eval();
    spectra[static_cast<std::size_t>(draw)] = padded_spectrum(seen);
    grams[static_cast<std::size_t>(draw)] = gram_of(seen);
  });
}

PositionKernel position_kernel(MatrixView positions, const HeadWeights& head, const PositionNull& null) {
  const Index length = positions.rows();
  const Matrix a = product(positions, head.query);
  Matrix b = product(positions, head.key);
  const double rounding =
      std::numeric_limits<double>::epsilon() * static_cast<double>(length) * a.squaredNorm() * b.squaredNorm();
  b.rowwise() -= b.colwise().mean().eval();  // removes the row means of A B^T
  const MatrixC spectrum_a = padded_spectrum(a), spectrum_b = padded_spectrum(b);
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

  const bool drawn = !null.spectra.empty() && !std::isnan(shares.all);
  const Matrix factor = drawn ? thin_qr(head.key).r : Matrix();
  result.null_other_r2.resize(drawn ? std::ssize(null.spectra) : 0);
  for (Index draw = 0; draw < result.null_other_r2.size(); ++draw) {
    const auto d = static_cast<std::size_t>(draw);
    const MatrixC turned = product_with_real(null.spectra[d], factor);
    const Matrix turned_gram = product(factor.transpose(), product(null.grams[d], factor));
    const double turned_energy = gram_a.cwiseProduct(turned_gram).sum();
    result.null_other_r2[draw] = toeplitz_shares(lagged_sums(spectrum_a, turned), turned_energy, rounding).others;
  }
  // With the bias every row gains b_Q . k_j.
  result.with_bias = result.kernel + means_along(product(b, head.query_bias));
  return result;
}

namespace {

/// The requested layers whose projections are present; a partial checkpoint may lack some.
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

/// Kernels of all heads, their shares and what they predict.
struct AtlasNumbers {
  Matrix kernel;          ///< (rows, 2 reach + 1)  equation (1)
  Vector own_token_term;  ///< (rows)  last term of (1)
  Vector toeplitz_r2;     ///< (rows)
  Vector other_r2;        ///< (rows)  compared with its null
  Matrix null_other_r2;   ///< (rows, draws)
  Vector estimate;        ///< (rows)  argmax of the kernel, in tokens; NaN: at the end of the search
  Vector weight;          ///< (rows)  softmax of the kernel over the offsets searched, at the argmax
  Vector chance;          ///< (rows)  weight under a flat kernel, 1 / number of offsets searched

  AtlasNumbers(Index rows, Index reach, Index draws)
      : kernel(rows, 2 * reach + 1),
        own_token_term(Vector::Constant(rows, not_defined)),
        toeplitz_r2(own_token_term),
        other_r2(own_token_term),
        null_other_r2(Matrix::Constant(rows, draws, not_defined)),
        estimate(own_token_term),
        weight(own_token_term),
        chance(own_token_term) {}

  void set_estimate(Index row, bool causal) {
    const auto peak = offset_peak(kernel.row(row).transpose(), causal);
    if (!peak || !(kernel.row(row).cwiseAbs().maxCoeff() > 0)) return;
    const Index reach = kernel.cols() / 2;
    const Vector searched = kernel.row(row).head(causal ? reach + 1 : 2 * reach + 1).transpose();
    weight[row] = 1 / (searched.array() - searched[reach + peak->offset]).exp().sum();
    chance[row] = 1 / static_cast<double>(searched.size());
    if (!peak->at_edge) estimate[row] = static_cast<double>(peak->offset);
  }
};

AtlasNumbers read_layers(const Stack& stack, const HeadGrid& grid, Index length, Index reach,
                         const PositionAtlasOptions& options) {
  AtlasNumbers numbers(grid.rows(), reach, options.draws);
  const int threads = thread_count(options.threads);
  const double scale = stack.block.score_scale;
  // Positions averaged over words; without words, the positions of the table as the layer sees them.
  std::unique_ptr<EmbeddingMeans> means;
  if (!stack.embedding.words.empty()) means = std::make_unique<EmbeddingMeans>(stack, length, threads);
  for (const Index layer : grid.layers) {
    const Matrix seen = means ? means->positions(layer) : Matrix(layer_positions(stack, layer).topRows(length));
    const Matrix covariance = means ? means->word_covariance(layer) : Matrix();
    const PositionNull null(seen, stack.block.d_head, options.draws, options.seed, threads);
    const std::shared_ptr<const Block> block = stack.queries_and_keys(layer);
    parallel_for(grid.heads, threads, [&](Index head) {
      const Index row = grid.first_row(layer) + head;
      const HeadWeights weights = head_weights(block->self, stack.block, head);
      const PositionKernel found = position_kernel(seen, weights, null);
      numbers.kernel.row(row) = scale * found.with_bias.segment(length - 1 - reach, 2 * reach + 1).transpose();
      numbers.own_token_term[row] =
          means ? scale * product(covariance, weights.key).cwiseProduct(weights.query).sum() : 0.0;
      numbers.kernel(row, reach) += numbers.own_token_term[row];
      numbers.toeplitz_r2[row] = found.toeplitz_r2;
      numbers.other_r2[row] = found.other_r2;
      if (found.null_other_r2.size() > 0) numbers.null_other_r2.row(row) = found.null_other_r2.transpose();
      numbers.set_estimate(row, stack.block.causal);
    });
  }
  return numbers;
}

/// Kernel of a position term by itself; no Fields if there is no term.
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

/// The atlas of the measured heads over the tokens of the longest document, but at most `rows`.
class PositionAtlasAnalysis : public Analysis {
 public:
  using Analysis::Analysis;
  [[nodiscard]] std::vector<Field> finish(Finished& /*finished*/) override {
    return position_atlas(stack(), {.layers = site().grid.layers,
                                    .length = std::min(input().longest, rows_to_read(stack(), options()[rows_option])),
                                    .reach = options().reach,
                                    .draws = options()[atlas_draws_option],
                                    .level = options().fdr,
                                    .seed = options().seed,
                                    .threads = input().threads});
  }
};

std::unique_ptr<Analysis> make_position_atlas(const AnalysisInput& input) {
  return input.knows_positions() ? std::make_unique<PositionAtlasAnalysis>(input) : nullptr;
}

}  // namespace

std::vector<Field> position_atlas(const Stack& stack, const PositionAtlasOptions& options) {
  const HeadGrid grid = known_grid(stack, options.layers);
  const Index positions = stack.embedding.positions.rows();
  const std::string undefined = positions == 0     ? "no position table"
                                : grid.rows() == 0 ? "no layer's query and key projections"
                                                   : not_bilinear(stack);
  const Axis layer = layer_axis(grid.layers), head = head_axis(grid.heads);
  const std::vector<Axis> heads{layer, head};
  const char* const offset_text = "offset that the weights alone predict";
  const char* const share_text = "share of the scores between positions that depends on their offset alone";
  Fields fields("position_atlas");
  fields.note_all("layers_above_0", "proxy: positions and words as the embedding gives them");
  if (!undefined.empty()) {
    const Vector nothing = Vector::Constant(grid.rows(), not_defined);
    fields.add("predicted_offset", heads, "token", offset_text, nothing, undefined);
    fields.add("toeplitz_r2", heads, "1", share_text, nothing, undefined);
    return fields.append(position_term_fields(stack, options.reach)).taken();
  }
  const Index length = options.length > 0 ? options.length : trained_rows(stack.embedding.positions).trained;
  if (length > positions)
    throw ShapeError(fmt::format("position_atlas: a length of {} tokens was requested, but the model has {} positions",
                                 length, positions));
  const Index reach = std::min(options.reach, length - 1);
  const AtlasNumbers numbers = read_layers(stack, grid, length, reach, options);
  const Vector p_value = pooled_p_values(numbers.other_r2, numbers.null_other_r2, NullScale::share);
  const Vector q_value = q_values(p_value);
  constexpr double least_times = 2;
  Vector offset = Vector::Constant(grid.rows(), not_defined);
  std::vector<PredictedStatus> statuses;
  for (Index row = 0; row < grid.rows(); ++row) {
    const double estimate = numbers.estimate[row], weight = numbers.weight[row];
    const bool null = options.draws > 0 && estimate != 0;
    statuses.push_back(std::isnan(weight)                           ? PredictedStatus::nothing
                       : null && !(q_value[row] <= options.level)   ? PredictedStatus::chance
                       : std::isnan(estimate)                       ? PredictedStatus::edge
                       : weight < least_times * numbers.chance[row] ? PredictedStatus::weak
                                                                    : PredictedStatus::offset);
    if (statuses.back() == PredictedStatus::offset) offset[row] = estimate;
  }

  const std::string reason = "the scores do not depend on position", no_null = reason + ", or no null was drawn";
  fields.add("predicted_offset", heads, "token", offset_text, offset, "position_atlas/status says why");
  fields.add("toeplitz_r2", heads, "1", share_text, numbers.toeplitz_r2, reason);
  add_status(fields, heads, statuses).note("least_times", least_times);
  fields.add("predicted_weight", heads, "1",
             "softmax of the kernel at its maximum: the share of attention over the offsets searched", numbers.weight,
             reason);
  fields.add("chance", heads, "1", "predicted_weight if the kernel were flat: one part for each offset searched",
             numbers.chance, reason);
  fields.add("estimate", heads, "token", "offset of the kernel's maximum, whether or not it stands out from chance",
             numbers.estimate, reason + ", or the maximum lies at the end of the search, |t| = reach");
  fields.add("other_r2", heads, "1", "toeplitz_r2 without the offset 0, which is what is compared with chance",
             numbers.other_r2, reason);
  fields.add("other_null_quantile", heads, "1", "quantile 1 - level of other_r2 under random rotations of the keys",
             row_quantiles(numbers.null_other_r2, 1 - options.level), no_null);
  describe_p_values(fields, heads, p_value, q_value,
                    {"other_r2", "under random rotations of the keys, heads pooled", no_null});
  fields.add("kernel", {layer, head, offset_axis("offset", -reach, reach)}, "1",
             "mean scaled score at an offset of positions averaged over words, row means removed, with b_Q and "
             "own_token_term",
             numbers.kernel);
  fields.add("own_token_term", heads, "1", "what a token's word adds to the scaled score of the token with itself",
             numbers.own_token_term);
  fields.note_all("length", length)
      .note_all("reach", reach)
      .note_all("level", options.level)
      .note_all("draws", options.draws)
      .note_all("seed", options.seed);
  return fields.append(position_term_fields(stack, options.reach)).taken();
}

extern const AnalysisKind position_atlas_analysis{.name = "position_atlas",
                                                  .asks = "Which offset do positions alone predict, from the weights?",
                                                  .options = {&atlas_draws_option},
                                                  .one_sequence = true,
                                                  .make = make_position_atlas};

}  // namespace headwave
