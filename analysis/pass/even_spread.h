#pragma once

#include "../../core/numbers/matrix.h"

namespace headwave {

/// Whether item i is among `wanted` of `count` items that are spread evenly: `count` is divided into `wanted`
/// parts of nearly equal size, and the last item of each is chosen.
/// @param i  from 0 to count - 1
constexpr bool is_spread(Index i, Index wanted, Index count) {
  return (i + 1) * wanted / count > i * wanted / count;
}

}  // namespace headwave
