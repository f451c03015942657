#pragma once

#include <string>

#include "headwave/analysis/head_grid.h"
#include "headwave/analysis/position_kernel.h"
#include "headwave/core/field.h"
#include "headwave/core/model.h"

namespace headwave {

struct PositionAtlasOptions {
  Index length = 0;  ///< T, the first so many positions; 0: all that the table has
  Index reach = 64;  ///< offsets are predicted among |t| <= reach, in tokens
  PositionNullOptions null;
  int threads = 0;  ///< 0: one per core; changes no digit
};

/// What every head of a stack would do by position alone, from the checkpoint: no text, no forward pass.
struct PositionAtlas {
  HeadGrid grid;
  Index length = 0;       ///< T
  Index reach = 0;        ///< tokens, at most T - 1
  Matrix kernel;          ///< (rows, 2 reach + 1)  scaled mean score at an offset, row means removed
  Vector toeplitz_r2;     ///< (rows)
  Vector other_r2;        ///< (rows)  without what a position shares with itself
  Vector null_median;     ///< (rows)
  Vector null_quantile;   ///< (rows)
  Vector key_only_share;  ///< (rows)
  Vector p_value;         ///< (rows)  chance of such an other_r2 under random rotations, all heads' draws pooled
  Vector q_value;         ///< (rows)  p_value adjusted for the number of heads
  Vector estimate;        ///< (rows)  argmax of the kernel, in tokens
  Vector offset;  ///< (rows)  the same; NaN where other_r2 does not leave its null behind: q_value above the level
  std::string undefined;  ///< why there is no atlas; empty where there is
  PositionAtlasOptions options;
};

/// position_kernel() of every head, with the positions as its layer would see them (core/layer_positions.h) and the
/// model's score scale. For layer 0 that is the model; above it a proxy, since the blocks between have changed the
/// positions. Under a causal mask only offsets t <= 0 are predicted.
/// Layers whose projections a partial checkpoint lacks are left out.
/// @returns an atlas whose `undefined` says why, where the model has no position table
/// @throws ShapeError if the table has fewer positions than asked for
PositionAtlas position_atlas(const Stack& stack, const PositionAtlasOptions& options = {});

/// Fields position_atlas/...; only the first two, undefined with the reason, where there is no atlas.
std::vector<Field> describe(const PositionAtlas& atlas);

/// The kernel of a position term by itself, position_term/kernel (head, kernel_offset); none where there is no
/// term.
std::vector<Field> position_term_fields(const Stack& stack, Index reach);

}  // namespace headwave
