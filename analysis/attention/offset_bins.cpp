#include "offset_bins.h"

#include <algorithm>
#include <cmath>
#include <ranges>

namespace headwave {

std::vector<OffsetBin> offset_bins(Index length, Index reach, bool causal) {
  std::vector<OffsetBin> right;
  for (Index t = 1; t <= std::min(reach, length - 1); ++t) right.push_back({t, t});
  for (Index k = 1, first = reach + 1; first < length; ++k) {
    const auto next =
        static_cast<Index>(std::ceil(static_cast<double>(reach + 1) * std::exp2(static_cast<double>(k) / 4)));
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
