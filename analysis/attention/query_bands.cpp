#include "query_bands.h"

#include <algorithm>
#include <cmath>
#include <ranges>

namespace headwave {

QueryBands::QueryBands(Index length, Index most, bool causal) : length_(length), causal_(causal) {
  if (length < 1 || most < 1) throw ShapeError("QueryBands: expected at least one query and one band");
  while (width_ * most < length) width_ *= 2;
  for (Index band = 0; first(band) < length; ++band)
    starts_.push_back(starts_.back() + highest(band) - lowest(band) + 1);
}

Index QueryBands::pairs(Index band, Index t, Index tokens, Index window) const {
  if ((causal_ && t > 0) || (window > 0 && std::abs(t) >= window)) return 0;
  const Index from = std::max(first(band), -t), to = std::min({end(band), tokens, tokens - t});
  return std::max<Index>(0, to - from);
}

std::vector<OffsetBin> offset_bins(Index length, Index reach, bool causal) {
  std::vector<OffsetBin> right;
  for (Index t = 1; t <= std::min(reach, length - 1); ++t) right.push_back({t, t});
  for (Index k = 1, first = reach + 1; first < length; ++k) {
    const double doublings = static_cast<double>(k) / static_cast<double>(bins_per_doubling);
    const auto next = static_cast<Index>(std::ceil(static_cast<double>(reach + 1) * std::exp2(doublings)));
    if (next == first) continue;  // a short reach: the edges still lie within one token
    right.push_back({first, std::min(next, length) - 1});
    first = next;
  }
  std::vector<OffsetBin> bins;
  for (const OffsetBin& bin : right | std::views::reverse) bins.push_back({-bin.last, -bin.first});
  bins.push_back({0, 0});
  if (!causal) bins.insert(bins.end(), right.begin(), right.end());
  return bins;
}

}  // namespace headwave
