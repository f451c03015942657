#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "../../core/attention/probe.h"

namespace headwave {

/// Keeps all attention and all inputs of every layer, which only a test of a tiny model can afford.
class KeptPass : public Probe {
 public:
  using Probe::see;
  void see(const LayerInput& input) override { states[input.kind].emplace_back(input.states); }
  void see(const Tile& tile) override {
    std::vector<Matrix32>& kept = weights[tile.kind];
    if (tile.first_row == 0) first_ = kept.size();  // not every layer has attention
    if (tile.first_row == 0)
      for (Index h = 0; h < tile.heads(); ++h) kept.emplace_back(Matrix32::Zero(tile.queries, tile.keys));
    for (Index h = 0; h < tile.heads(); ++h)
      kept[first_ + static_cast<std::size_t>(h)].middleRows(tile.first_row, tile.rows()) =
          tile.weights[static_cast<std::size_t>(h)];
  }

  std::map<AttentionKind, std::vector<Matrix32>> states;   ///< layer by layer
  std::map<AttentionKind, std::vector<Matrix32>> weights;  ///< layer by layer, head by head

 private:
  std::size_t first_ = 0;
};

}  // namespace headwave
