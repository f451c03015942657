#include "random_reading.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "../../core/algebra/random_frame.h"
#include "../../core/process/threads.h"

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

std::vector<PhaseRotation> random_rotations(Index d_model, Index rank, Index count,
                                            const RandomReadingOptions& options) {
  std::vector<PhaseRotation> rotations(static_cast<std::size_t>(count));
  parallel_for(count, options.threads, [&](Index i) {
    Random random = Random(options.seed).stream(1000000 + static_cast<std::uint64_t>(i));
    rotations[static_cast<std::size_t>(i)] = random_rotation(d_model, rank, random);
  });
  return rotations;
}

}  // namespace

Matrix32 random_frames(Index d_model, Index width, const RandomReadingOptions& options) {
  Matrix32 frames(d_model, options.draws * width);
  for (Index draw = 0; draw < options.draws; ++draw) {
    Random random = Random(options.seed).stream(static_cast<std::uint64_t>(draw));
    frames.middleCols(draw * width, width) = random_frame(d_model, width, random).cast<float>();
  }
  return frames;
}

RandomRotations::RandomRotations(Index d_model, const std::vector<WaveHead>& heads,
                                 const RandomReadingOptions& options) {
  const Index pool = std::max(options.draws, options.rotations);
  for (std::size_t row = 0; row < heads.size(); ++row) {
    const auto rank = static_cast<std::size_t>(heads[row].rank);
    by_rank_.resize(std::max(by_rank_.size(), rank + 1));
    if (by_rank_[rank].empty() && rank > 0 && options.draws > 0)
      by_rank_[rank] = random_rotations(d_model, heads[row].rank, pool, options);
    std::vector<Index> order(static_cast<std::size_t>(pool));
    std::iota(order.begin(), order.end(), Index{0});
    Random random = Random(options.seed).stream(3000000 + static_cast<std::uint64_t>(row));
    random.shuffle(order);
    order.resize(static_cast<std::size_t>(options.draws));
    drawn_.push_back(std::move(order));
  }
}

const PhaseRotation& RandomRotations::of(Index row, Index rank, Index draw) const {
  const Index which = drawn_[static_cast<std::size_t>(row)][static_cast<std::size_t>(draw)];
  return by_rank_[static_cast<std::size_t>(rank)][static_cast<std::size_t>(which)];
}

}  // namespace headwave
