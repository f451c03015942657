#include "shuffled_places.h"

#include <algorithm>
#include <numeric>
#include <span>

namespace headwave {

ShuffledPlaces::ShuffledPlaces(Index heads, Index length, Index reach, AttentionKind kind, Index draws,
                               const Random& random)
    : length_(length), reach_(reach), causal_(kind == AttentionKind::causal) {
  const Matrix none = Matrix::Zero(heads, 2 * reach + 1);
  for (Index draw = 0; draw < draws; ++draw) {
    std::vector<Index>& place = place_.emplace_back(static_cast<std::size_t>(length));
    std::iota(place.begin(), place.end(), Index{0});
    random.stream(static_cast<std::uint64_t>(draw)).shuffle(std::span(place).subspan(1));
    std::vector<Index>& position = position_.emplace_back(place.size());
    for (std::size_t i = 0; i < place.size(); ++i) position[static_cast<std::size_t>(place[i])] = static_cast<Index>(i);
    draws_.push_back({none, none, none, Vector::Zero(2 * reach + 1)});
  }
}

std::vector<ShuffledPlaces::Read> ShuffledPlaces::reads_of(std::size_t draw, Index i, KeySpan open) const {
  std::vector<Read> reads;
  const Index place = place_[draw][static_cast<std::size_t>(i)];
  for (Index t = std::max(-reach_, 1 - place); t <= std::min(reach_, length_ - 1 - place); ++t) {
    const Index key = position_[draw][static_cast<std::size_t>(place + t)];
    if (key >= std::max<Index>(1, open.first) && key < open.end())
      reads.push_back({key, reach_ + (causal_ ? -std::abs(t) : t)});
  }
  return reads;
}

void ShuffledPlaces::see(const Tile& tile) {
  Vector mean(tile.heads());
  for (Index r = 0; r < tile.rows(); ++r) {
    const Index i = tile.first_row + r;
    if (i == 0) continue;
    const KeySpan open = tile.allowed_keys(i);
    for (Index head = 0; head < tile.heads(); ++head)
      mean[head] =
          tile.scores[static_cast<std::size_t>(head)].row(r).segment(open.first, open.count).cast<double>().mean();
    for (std::size_t draw = 0; draw < draws_.size(); ++draw) {
      Draw& sums = draws_[draw];
      const std::vector<Read> reads = reads_of(draw, i, open);
      for (const Read& read : reads) sums.pairs[read.offset] += 1;
      for (Index head = 0; head < tile.heads(); ++head) {
        const auto row_scores = tile.scores[static_cast<std::size_t>(head)].row(r);
        const auto row_weights = tile.weights[static_cast<std::size_t>(head)].row(r);
        for (const Read& read : reads) {
          const double score = row_scores[read.key] - mean[head];
          sums.scores(head, read.offset) += score;
          sums.squares(head, read.offset) += score * score;
          sums.weights(head, read.offset) += row_weights[read.key];
        }
      }
    }
  }
}

}  // namespace headwave
