#pragma once

// Documents of one head whose scores are known: waves in mean queries and keys, a mean by offset that is content, and normal noise.

#include <cmath>
#include <numbers>
#include <vector>

#include "../../analysis/predictions/head_account.h"
#include "../../core/numbers/random.h"

namespace headwave {

struct DrawnScores {
  Index length = 96, reach = 24;
  std::vector<double> amplitudes;  ///< of waves with 5, 6, 7, ... periods: the position term
  double offset = 0;               ///< where these waves point, tokens
  Vector content;                  ///< (2 length - 1)  mean score by offset beside them; empty: none
  double deviation = 0;            ///< of the noise in every score
  Vector deviation_by_offset;      ///< (2 length - 1)  in its place; empty: the same everywhere
  bool random_positions = false;   ///< mean queries and keys are normal numbers instead of waves
};

/// sum_m a_m cos(2 pi f_m (t - t*) / T) at t = -(T-1) .. T-1.
inline Vector position_kernel_of(const DrawnScores& spec) {
  Vector kernel = Vector::Zero(2 * spec.length - 1);
  for (std::size_t m = 0; m < spec.amplitudes.size(); ++m)
    for (Index t = 0; t < kernel.size(); ++t)
      kernel[t] += spec.amplitudes[m] * std::cos(2 * std::numbers::pi * static_cast<double>(5 + m) *
                                                 (static_cast<double>(t - spec.length + 1) - spec.offset) /
                                                 static_cast<double>(spec.length));
  return kernel;
}

inline AccountSite site_of(const DrawnScores& spec) {
  AccountSite site;
  site.grid = {{0}, 1};
  site.length = spec.length;
  site.reach = spec.reach;
  return site;
}

/// Queries and keys of every position: the same in all documents.
struct DrawnPositions {
  Matrix32 query, key;
  explicit DrawnPositions(const DrawnScores& spec, Random random = Random(3)) {
    const Index columns = spec.random_positions ? 8 : 2 * static_cast<Index>(spec.amplitudes.size());
    query = key = Matrix32::Zero(spec.length, std::max<Index>(columns, 2));
    if (spec.random_positions) {
      for (float& entry : query.reshaped()) entry = static_cast<float>(0.4 * random.normal());
      for (float& entry : key.reshaped()) entry = static_cast<float>(random.normal());
      return;
    }
    for (Index m = 0; 2 * m < columns; ++m)
      for (Index n = 0; n < spec.length; ++n) {
        const double turn = 2 * std::numbers::pi * static_cast<double>(5 + m) / static_cast<double>(spec.length);
        const double a = spec.amplitudes[static_cast<std::size_t>(m)];
        query(n, 2 * m) = static_cast<float>(a * std::cos(turn * static_cast<double>(n)));
        query(n, 2 * m + 1) = static_cast<float>(a * std::sin(turn * static_cast<double>(n)));
        key(n, 2 * m) = static_cast<float>(std::cos(turn * (static_cast<double>(n) - spec.offset)));
        key(n, 2 * m + 1) = static_cast<float>(std::sin(turn * (static_cast<double>(n) - spec.offset)));
      }
  }
};

inline AccountSums drawn_document(const DrawnScores& spec, const DrawnPositions& positions, Random& random) {
  const Index n = spec.length;
  Matrix scores = (positions.query * positions.key.transpose()).cast<double>();
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j) {
      if (spec.content.size() > 0) scores(i, j) += spec.content[j - i + n - 1];
      const double deviation =
          spec.deviation_by_offset.size() > 0 ? spec.deviation_by_offset[j - i + n - 1] : spec.deviation;
      if (deviation > 0) scores(i, j) += deviation * random.normal();
    }
  Matrix weights = (scores.colwise() - scores.rowwise().maxCoeff()).array().exp();
  weights.array().colwise() /= weights.rowwise().sum().array();
  const Matrix32 shown_scores = scores.cast<float>(), shown_weights = weights.cast<float>();
  AccountProbe probe({{0}, 1}, n, spec.reach, AttentionKind::self);
  probe.see(LayerProjections{0, AttentionKind::self, positions.query, positions.key, positions.query, positions.key,
                             nullptr});
  Tile tile;
  tile.queries = tile.keys = n;
  tile.weights = {shown_weights};
  tile.scores = {shown_scores};
  probe.see(tile);
  return probe.taken();
}

inline std::vector<AccountSums> drawn_groups(const DrawnScores& spec, Index documents, Random random,
                                             Index groups = 8) {
  const DrawnPositions positions(spec, random.stream(1));
  std::vector<AccountSums> sums(static_cast<std::size_t>(std::min(groups, documents)));
  for (Index d = 0; d < documents; ++d)
    sums[static_cast<std::size_t>(d) % sums.size()] += drawn_document(spec, positions, random);
  return sums;
}

/// Share of the shape of kernel + content, |t| <= reach, that the kernel alone gives.
inline double planted_shape(const DrawnScores& spec) {
  const Index first = spec.length - 1 - spec.reach, count = 2 * spec.reach + 1;
  const Vector content = spec.content.segment(first, count);
  const Vector whole = content + position_kernel_of(spec).segment(first, count);
  return 1 - (content.array() - content.mean()).square().sum() / (whole.array() - whole.mean()).square().sum();
}

}  // namespace headwave
