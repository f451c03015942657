#include "head_grid.h"

#include <algorithm>

#include <fmt/format.h>

#include "../errors/error.h"

namespace headwave {

Index HeadGrid::place_of(Index layer) const {
  const auto found = std::lower_bound(layers.begin(), layers.end(), layer);
  return found == layers.end() || *found != layer ? -1 : static_cast<Index>(found - layers.begin());
}

Index HeadGrid::first_row(Index layer) const {
  const Index place = place_of(layer);
  if (place < 0)
    throw ShapeError(fmt::format("layer {}: expected one of the {} layers of the analysis", layer, layers.size()));
  return place * heads;
}

Axis pairs_axis() {
  return {"pairs", "1", "which query-key pairs are counted",
          std::vector<std::string>{"all", "without_special", "without_sink"}};
}

bool counts(Pairs kind, const TokenSequence& tokens, Index position) {
  if (kind == Pairs::all) return true;
  if (tokens.is_special(position)) return false;
  return kind == Pairs::without_special || position > 0;
}

std::vector<HeadName> heads_of(const HeadGrid& grid) {
  std::vector<HeadName> names;
  for (const Index layer : grid.layers)
    for (Index head = 0; head < grid.heads; ++head) names.push_back({layer, head});
  return names;
}

}  // namespace headwave
