#include <algorithm>
#include <numeric>
#include <utility>

#include "../../core/numbers/random_frame.h"
#include "../../core/numbers/threads.h"
#include "wave_chain.h"

namespace headwave {

namespace {

/// M of a head whose keys read k of d_model directions at random: no direction is kept as it is, as in M itself where
/// query and key have nothing in common. Which directions the query reads does not matter then.
PhaseRotation random_rotation(Index d_model, Index k, Random& random) {
  QkSvd frame;
  frame.query = Matrix::Identity(d_model, k);
  frame.key = random_frame(d_model, k, random);
  return phase_rotation(frame);
}

/// The null of the phases: eigenvectors cost much, so there are fewer rotations than heads times draws.
void draw_rotations(WaveChainPlan& plan) {
  const WaveChainOptions& options = plan.options;
  const Index pool = std::max(options.draws, options.rotations);
  plan.rotations.resize(static_cast<std::size_t>(plan.stack->block.d_head) + 1);
  for (std::size_t row = 0; row < plan.heads.size(); ++row) {
    const Index rank = plan.heads[row].rank;
    std::vector<PhaseRotation>& rotations = plan.rotations[static_cast<std::size_t>(rank)];
    if (rotations.empty() && rank > 0 && options.draws > 0) {
      rotations.resize(static_cast<std::size_t>(pool));
      parallel_for(pool, options.threads, [&](Index i) {
        Random random = Random(options.seed).stream(1000000 + static_cast<std::uint64_t>(i));
        rotations[static_cast<std::size_t>(i)] = random_rotation(plan.stack->d_model(), rank, random);
      });
    }
    std::vector<Index> order(static_cast<std::size_t>(pool));
    std::iota(order.begin(), order.end(), Index{0});
    Random random = Random(options.seed).stream(3000000 + static_cast<std::uint64_t>(row));
    random.shuffle(order);
    order.resize(static_cast<std::size_t>(options.draws));
    plan.drawn.push_back(std::move(order));
  }
}

}  // namespace

WaveChainPlan wave_chain_plan(const Stack& stack, const HeadGrid& grid, AttentionKind kind, Index length,
                              const WaveChainOptions& options) {
  const BlockSpec& block = stack.block;
  const Index count = std::min({stack.d_model(), block.heads * block.d_head, block.kv_heads * block.d_head});
  WaveChainPlan plan{.stack = &stack,
                     .grid = grid,
                     .kind = kind,
                     .length = length,
                     .options = options,
                     .heads = wave_heads(stack, grid, options.threads),
                     .frames = {},
                     .rotations = {},
                     .drawn = {},
                     .spectra = {grid, block.d_head, length, count, options.periodic}};
  if (options.delays) {
    const Index width = std::min(block.d_head, stack.d_model());
    plan.frames.resize(stack.d_model(), options.draws * width);
    for (Index draw = 0; draw < options.draws; ++draw) {
      Random random = Random(options.seed).stream(static_cast<std::uint64_t>(draw));
      plan.frames.middleCols(draw * width, width) = random_frame(stack.d_model(), width, random);
    }
  }
  if (options.phases) draw_rotations(plan);
  return plan;
}

}  // namespace headwave
