#pragma once

#include <algorithm>
#include <span>

#include "../numbers/stopping.h"
#include "probe.h"

namespace headwave {

/// Query rows per tile: 64 rows of 512 keys and 12 heads in float are 1.5 MB, which stays in a core's cache.
constexpr Index tile_rows = 64;

/// Goes over the query rows of a layer tile by tile, and shows each to the probes.
/// @param tile  what all tiles have in common
/// @param fill  (tile, rows) puts weights, and scores where they are wanted, of so many rows from tile.first_row on
/// @param use   (tile) what is done with it once the probes have seen it
/// @throws Stopped between two tiles, if that was asked for
template <class Scalar, class Fill, class Use>
void walk_tiles(TileOf<Scalar> tile, std::span<Probe* const> probes, const Fill& fill, const Use& use) {
  for (Index first = 0; first < tile.queries; first += tile_rows) {
    stop_if_asked();
    tile.first_row = first;
    tile.weights.clear();
    tile.scores.clear();
    fill(tile, std::min(tile_rows, tile.queries - first));
    for (Probe* probe : probes) probe->see(tile);
    use(tile);
  }
}

}  // namespace headwave
