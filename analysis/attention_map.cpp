#include "headwave/analysis/attention_map.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace headwave {

namespace {

std::string token_label(const Document& document, Index position) {
  const auto i = static_cast<std::size_t>(position);
  if (i < document.tokens.size()) return document.tokens[i];
  if (i < document.ids.size()) return std::to_string(document.ids[i]);
  return std::to_string(position);
}

Axis position_axis(std::string name, std::string long_name, Index count) {
  std::vector<std::int64_t> positions(static_cast<std::size_t>(count));
  std::iota(positions.begin(), positions.end(), 0);
  return {std::move(name), "token", std::move(long_name), std::move(positions)};
}

}  // namespace

AttentionMapProbe::AttentionMapProbe(std::vector<HeadName> heads, Index tokens, const Document& document) {
  const Index size = std::min(tokens, document.length());
  maps_.heads = std::move(heads);
  maps_.weights.assign(maps_.heads.size(), Matrix::Zero(size, size));
  maps_.document = document.name;
  for (Index i = 0; i < size; ++i) maps_.tokens.push_back(token_label(document, i));
}

void AttentionMapProbe::see(const Tile& tile) {
  const auto size = static_cast<Index>(maps_.tokens.size());
  const Index rows = std::min(tile.rows(), size - tile.first_row);
  if (rows <= 0) return;
  for (std::size_t i = 0; i < maps_.heads.size(); ++i) {
    if (maps_.heads[i].layer != tile.layer || maps_.heads[i].head >= tile.heads()) continue;
    maps_.weights[i].middleRows(tile.first_row, rows) =
        tile.weights[static_cast<std::size_t>(maps_.heads[i].head)].topLeftCorner(rows, size).cast<double>();
  }
}

std::vector<Field> describe(const AttentionMaps& maps) {
  const auto size = static_cast<Index>(maps.tokens.size());
  std::vector<std::string> names;
  std::vector<double> weights;
  for (std::size_t i = 0; i < maps.heads.size(); ++i) {
    names.push_back(head_name(maps.heads[i].layer, maps.heads[i].head));
    weights.insert(weights.end(), maps.weights[i].data(), maps.weights[i].data() + maps.weights[i].size());
  }
  const Axis query = position_axis("query", "query position", size);
  Field weight =
      make_field("attention_map/weight",
                 {{"map_head", "1", "head", std::move(names)}, query, position_axis("key", "key position", size)}, "1",
                 "attention weight of a query token on a key token", std::move(weights));
  weight.attributes["document"] = maps.document;
  return {std::move(weight), Field{"attention_map/token", {query}, "1", "text of the token", maps.tokens, {}, {}}};
}

}  // namespace headwave
