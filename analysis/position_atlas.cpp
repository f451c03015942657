#include "headwave/analysis/position_atlas.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "headwave/analysis/false_discovery.h"
#include "headwave/core/layer_positions.h"
#include "headwave/core/threads.h"

namespace headwave {

namespace {

constexpr double not_defined = std::numeric_limits<double>::quiet_NaN();

/// The layers whose projections are there: of a partial checkpoint not all may be.
HeadGrid known_grid(const Stack& stack) {
  HeadGrid grid{{}, stack.block.heads};
  for (Index layer = 0; layer < stack.layers(); ++layer) {
    const Block& block = stack.blocks[static_cast<std::size_t>(layer)];
    const bool normed = stack.block.norm_place == NormPlace::post || !block.self_norm.empty();
    if (!block.self.query.empty() && !block.self.key.empty() && normed) grid.layers.push_back(layer);
  }
  return grid;
}

/// Offset of the largest entry, ties to the smaller |t|, then to the left.
double offset_of_maximum(const Vector& kernel, bool causal) {
  const Index reach = (kernel.size() - 1) / 2;
  Index best = 0;
  for (Index distance = 1; distance <= reach; ++distance)
    for (const Index t : {-distance, distance})
      if ((t < 0 || !causal) && kernel[t + reach] > kernel[best + reach]) best = t;
  return static_cast<double>(best);
}

}  // namespace

PositionAtlas position_atlas(const Stack& stack, const PositionAtlasOptions& options) {
  PositionAtlas atlas;
  atlas.grid = known_grid(stack);
  atlas.options = options;
  const Index rows = atlas.grid.rows();
  for (Vector* vector : {&atlas.toeplitz_r2, &atlas.other_r2, &atlas.null_median, &atlas.null_quantile,
                         &atlas.key_only_share, &atlas.p_value, &atlas.q_value, &atlas.estimate, &atlas.offset})
    *vector = Vector::Constant(rows, not_defined);
  const Index positions = stack.embedding.positions.rows();
  if (positions == 0 || rows == 0) {
    atlas.undefined = positions == 0 ? "no position table" : "no layer's query and key projections";
    return atlas;
  }
  atlas.length = options.length > 0 ? options.length : positions;
  if (atlas.length > positions)
    throw ShapeError(fmt::format("position_atlas: a length of {} was asked for, the model has {} positions",
                                 atlas.length, positions));
  atlas.reach = std::min(options.reach, atlas.length - 1);
  atlas.kernel.resize(rows, 2 * atlas.reach + 1);
  Matrix null_other_r2 = Matrix::Constant(rows, options.null.draws, not_defined);
  const int threads =
      options.threads > 0 ? options.threads : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  for (const Index layer : atlas.grid.layers) {
    const Matrix seen = layer_positions(stack, layer).topRows(atlas.length);
    const PositionNull null(seen, stack.block.d_head, options.null);
    parallel_for(atlas.grid.heads, threads, [&](Index head) {
      const Index row = atlas.grid.first_row(layer) + head;
      const HeadWeights weights = head_weights(stack.blocks[static_cast<std::size_t>(layer)].self, stack.block, head);
      const PositionKernel found = position_kernel(seen, weights, null);
      const Vector near = found.kernel.segment(atlas.length - 1 - atlas.reach, 2 * atlas.reach + 1);
      atlas.kernel.row(row) = stack.block.score_scale * near.transpose();
      atlas.toeplitz_r2[row] = found.toeplitz_r2;
      atlas.null_median[row] = found.null_median;
      atlas.null_quantile[row] = found.null_quantile;
      atlas.key_only_share[row] = found.key_only_share;
      atlas.other_r2[row] = found.other_r2;
      if (found.null_other_r2.size() > 0) null_other_r2.row(row) = found.null_other_r2.transpose();
      if (!std::isnan(found.toeplitz_r2)) atlas.estimate[row] = offset_of_maximum(near, stack.block.causal);
    });
  }
  atlas.p_value = pooled_p_values(atlas.other_r2, null_other_r2, NullScale::share);
  atlas.q_value = q_values(atlas.p_value);
  for (Index row = 0; row < rows; ++row)
    if (options.null.draws == 0 || atlas.q_value[row] <= options.null.level) atlas.offset[row] = atlas.estimate[row];
  return atlas;
}

std::vector<Field> describe(const PositionAtlas& atlas) {
  const std::vector<Axis> heads{layer_axis(atlas.grid.layers), head_axis(atlas.grid.heads)};
  const auto list = [](const auto& numbers) {
    return std::vector<double>(numbers.data(), numbers.data() + numbers.size());
  };
  const std::string reason = atlas.undefined.empty() ? "the scores do not depend on position" : atlas.undefined;
  std::vector<Field> fields{
      make_field("position_atlas/offset", heads, "token", "offset that positions alone predict", list(atlas.offset)),
      make_field("position_atlas/toeplitz_r2", heads, "1",
                 "share of the scores between positions that depends on their offset alone", list(atlas.toeplitz_r2))};
  fields[0].attributes["undefined"] = atlas.undefined.empty()
                                          ? std::string(
                                                "other_r2 does not rise above its null of random rotations of the "
                                                "keys: q_value above the level")
                                          : atlas.undefined;
  fields[1].attributes["undefined"] = reason;
  for (Field& field : fields)
    field.attributes["layers_above_0"] = std::string("proxy: positions as the embedding gives them");
  if (!atlas.undefined.empty()) return fields;
  const Axis offset = offset_axis("kernel_offset", -atlas.reach, atlas.reach);
  fields.push_back(make_field("position_atlas/null_median", heads, "1",
                              "median of the Toeplitz share under random rotations of the keys",
                              list(atlas.null_median)));
  fields.push_back(make_field("position_atlas/null_quantile", heads, "1",
                              "quantile 1 - level of the Toeplitz share under random rotations",
                              list(atlas.null_quantile)));
  fields.push_back(make_field("position_atlas/key_only_share", heads, "1",
                              "share of the key-only term b_Q.k in the row-centred score variance",
                              list(atlas.key_only_share)));
  fields.push_back(make_field("position_atlas/other_r2", heads, "1",
                              "the Toeplitz share without what each position shares with itself",
                              list(atlas.other_r2)));
  fields.push_back(make_field("position_atlas/p_value", heads, "1",
                              "chance of such an other_r2 under random rotations, heads pooled", list(atlas.p_value)));
  fields.push_back(make_field("position_atlas/q_value", heads, "1", "p_value adjusted for the number of heads",
                              list(atlas.q_value)));
  fields.push_back(make_field("position_atlas/estimate", heads, "token",
                              "offset of the kernel's maximum, told from chance or not", list(atlas.estimate)));
  fields.push_back(make_field("position_atlas/kernel", {heads[0], heads[1], offset}, "1",
                              "mean scaled score between positions at an offset, row means removed, without biases",
                              list(atlas.kernel)));
  fields[2].attributes["undefined"] = fields[3].attributes["undefined"] = reason;
  fields[3].attributes["level"] = atlas.options.null.level;
  fields[3].attributes["draws"] = static_cast<std::int64_t>(atlas.options.null.draws);
  fields[3].attributes["seed"] = static_cast<std::int64_t>(atlas.options.null.seed);
  for (const std::size_t i : {5U, 6U, 7U, 8U}) fields[i].attributes["undefined"] = reason;
  fields.back().attributes["length"] = static_cast<std::int64_t>(atlas.length);
  return fields;
}

std::vector<Field> position_term_fields(const Stack& stack, Index reach) {
  if (stack.position_term == nullptr) return {};
  std::vector<double> values;
  for (Index head = 0; head < stack.block.heads; ++head) {
    const Vector kernel = stack.position_term->kernel(head, reach);
    values.insert(values.end(), kernel.begin(), kernel.end());
  }
  Field field = make_field(
      "position_term/kernel", {head_axis(stack.block.heads), offset_axis("kernel_offset", -reach, reach)}, "1",
      stack.position_term->additive() ? "what the position term adds to a scaled score at an offset"
                                      : "factor by which the position term changes q.k of equal vectors at an offset",
      std::move(values));
  field.attributes["term"] = std::string(stack.position_term->name());
  return {std::move(field)};
}

}  // namespace headwave
