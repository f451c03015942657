#pragma once

#include <algorithm>

#include "../numbers/matrix.h"

namespace headwave {

/// Keys that a query may look at: first .. end() - 1. An additive mask may forbid some of them.
struct KeySpan {
  Index first = 0;
  Index count = 0;

  [[nodiscard]] Index end() const { return first + count; }
};

/// @param query   position of the query
/// @param keys    n, valid key positions
/// @param window  keys this far away are masked, |i - j| < window; 0: no limit
/// @returns an empty span if no key is left
inline KeySpan allowed_keys(Index query, Index keys, bool causal, Index window) {
  const Index end = causal ? std::min(keys, query + 1) : window > 0 ? std::min(keys, query + window) : keys;
  const Index first = window > 0 ? std::max<Index>(0, query - window + 1) : 0;
  return {std::min(first, end), std::max<Index>(0, end - first)};
}

}  // namespace headwave
