#pragma once

#include <algorithm>
#include <span>

#include "../process/stopping.h"
#include "probe.h"

namespace headwave {

/// Query rows per tile: 64 rows of 512 keys and 12 heads in float are 1.5 MB, which stays in a core's cache.
/// Beyond 65,536 keys fewer, down to 16: a tile of 12 heads takes at most 200 MB until there are 262,144.
constexpr Index tile_rows(Index keys) {
  constexpr Index most = 64, least = 16, entries = most * 65536;
  return std::clamp(entries / std::max<Index>(keys, 1), least, most);
}

/// Goes over the query rows of a layer tile by tile, and shows each to the probes.
/// @param tile  the members that all tiles share
/// @param fill  (tile, rows) puts weights, and scores where they are wanted, of so many rows from
///         tile.first_row on
/// @throws Stopped between two tiles, if that was asked for
template <class Scalar, class Fill>
void walk_tiles(TileOf<Scalar> tile, std::span<Probe* const> probes, const Fill& fill) {
  const Index most = tile_rows(tile.keys);
  for (Index first = 0; first < tile.queries; first += most) {
    stop_if_asked();
    tile.first_row = first;
    tile.weights.clear();
    tile.scores.clear();
    fill(tile, std::min(most, tile.queries - first));
    for (Probe* probe : probes) probe->see(tile);
  }
}

}  // namespace headwave
