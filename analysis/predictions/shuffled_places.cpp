#include "shuffled_places.h"

#include <algorithm>
#include <span>

#include "account_documents.h"

namespace headwave {

ShuffledPlaces::Draw& ShuffledPlaces::Draw::operator+=(const Draw& other) {
  weights += other.weights;
  uniform += other.uniform;
  pairs += other.pairs;
  return *this;
}

namespace {

std::vector<Index> inverse_of(const std::vector<Index>& place) {
  std::vector<Index> position(place.size());
  for (std::size_t i = 0; i < place.size(); ++i) position[static_cast<std::size_t>(place[i])] = static_cast<Index>(i);
  return position;
}

}  // namespace

ShuffledPlaces::ShuffledPlaces(Index heads, Index reach, AttentionKind kind,
                               const std::vector<std::uint8_t>& query_stays, const std::vector<std::uint8_t>& key_stays,
                               Index draws, const Random& random)
    : reach_(reach), causal_(kind == AttentionKind::causal) {
  const Vector none = Vector::Zero(2 * reach + 1);
  for (Index draw = 0; draw < draws; ++draw) {
    Random own = random.stream(static_cast<std::uint64_t>(draw));
    place_.push_back(dealt_places(query_stays, own));
    position_.push_back(inverse_of(kind == AttentionKind::cross ? dealt_places(key_stays, own) : place_.back()));
    draws_.push_back({Matrix::Zero(heads, 2 * reach + 1), none, none});
  }
}

void ShuffledPlaces::find_reads(std::size_t draw, Index query, KeySpan open, Reads& reads) const {
  reads.key.clear();
  reads.column.clear();
  const std::vector<Index>& position = position_[draw];
  const Index place = place_[draw][static_cast<std::size_t>(query)];
  for (Index t = std::max(-reach_, 1 - place); t <= std::min(reach_, std::ssize(position) - 1 - place); ++t) {
    const Index key = position[static_cast<std::size_t>(place + t)];
    if (key < std::max<Index>(1, open.first) || key >= open.end()) continue;
    reads.key.push_back(key);
    reads.column.push_back(reach_ + (causal_ ? -std::abs(t) : t));
  }
}

void ShuffledPlaces::see(const Tile& tile) {
  Reads reads;
  for (Index r = 0; r < tile.rows(); ++r) {
    const Index i = tile.first_row + r;
    if (i == 0) continue;
    const KeySpan open = tile.allowed_keys(i);
    for (std::size_t draw = 0; draw < draws_.size(); ++draw) {
      Draw& sums = draws_[draw];
      find_reads(draw, i, open, reads);
      for (const Index column : reads.column) {
        sums.pairs[column] += 1;
        sums.uniform[column] += 1 / static_cast<double>(open.count);
      }
      for (Index head = 0; head < tile.heads(); ++head) {
        const float* weights = tile.weights[static_cast<std::size_t>(head)].row(r).data();
        double* sum = sums.weights.row(head).data();
        for (std::size_t k = 0; k < reads.key.size(); ++k)
          sum[reads.column[k]] += static_cast<double>(weights[reads.key[k]]);
      }
    }
  }
}

}  // namespace headwave
