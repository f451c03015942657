#pragma once

#include <vector>

#include "../../core/numbers/matrix.h"

namespace headwave {

/// Neighbouring offsets: first <= t <= last.
struct OffsetBin {
  Index first = 0, last = 0;
};

/// Offsets -(T-1) .. T-1, ascending: each by itself up to the reach, then in bins whose edges lie at
/// (reach + 1) 2^(k/4), the last cut off where T ends; under a causal mask t <= 0 alone.
std::vector<OffsetBin> offset_bins(Index length, Index reach, bool causal);

}  // namespace headwave
