#pragma once

#include <cstdint>
#include <vector>

#include "wave_head.h"

namespace headwave {

/// The null of the chain: heads whose keys read directions of the hidden states at random, with the gains they have.
/// What such a head shows by its waves alone, a real one must exceed.
struct RandomReadingOptions {
  Index draws = 20;       ///< random readings of the keys for each head
  Index rotations = 100;  ///< random rotations, of which every head takes `draws`: eigenvectors cost much
  std::uint64_t seed = 1;
  int threads = 1;  ///< changes no digit
};

/// Frames of orthonormal columns, side by side.
/// @param width  columns of each, d_head or less
/// @returns (d_model, draws * width)
Matrix32 random_frames(Index d_model, Index width, const RandomReadingOptions& options);

/// Rotations between directions that a query reads and such random ones, shared between heads of one rank.
class RandomRotations {
 public:
  RandomRotations() = default;
  RandomRotations(Index d_model, const std::vector<WaveHead>& heads, const RandomReadingOptions& options);

  /// Draw `draw` of a head: heads that shared all of them would err together.
  [[nodiscard]] const PhaseRotation& of(Index row, Index rank, Index draw) const;

 private:
  std::vector<std::vector<PhaseRotation>> by_rank_;
  std::vector<std::vector<Index>> drawn_;  // by row: which of them
};

}  // namespace headwave
