#pragma once

#include "../../core/numbers/matrix.h"

namespace headwave {

/// Whether item i is chosen if `wanted` of `count` items are chosen evenly. The items are divided into
/// `wanted` parts of nearly equal size, and the last item of each part is chosen.
/// @param i  from 0 to count - 1
constexpr bool is_spread(Index i, Index wanted, Index count) {
  return (i + 1) * wanted / count > i * wanted / count;
}

}  // namespace headwave
