#include <utility>

#include "../../core/fields/fields.h"
#include "attention_map.h"

namespace headwave {

namespace {

template <class Entry>
std::vector<Entry> part_of(const std::vector<Entry>& all, Index first, Index count) {
  if (all.empty()) return {};
  return {all.begin() + first, all.begin() + first + count};
}

/// The tokens of one side: those of the window, and where there are tiles all of the document's.
struct Side {
  std::string prefix;  ///< of names: "", "key_"
  std::string one;     ///< "query", "key"
  Axis window, document;
  const std::vector<std::string>& tokens;
  const std::vector<std::uint8_t>& special;
};

void add_tokens(Fields& fields, const Side& side, Index first, bool all) {
  const std::vector<std::string> meanings{"ordinary", "special"};
  const Index shown = side.window.size();
  fields.add(side.prefix + "token", {side.window}, "1", "text of the " + side.one, part_of(side.tokens, first, shown));
  if (!side.special.empty())
    fields.flags(side.prefix + "special", {side.window}, "whether the " + side.one + " is [CLS], </s> or the like",
                 part_of(side.special, first, shown), meanings);
  if (!all) return;
  fields.add("document_" + side.prefix + "token", {side.document}, "1", "text of the " + side.one, side.tokens);
  if (!side.special.empty())
    fields.flags("document_" + side.prefix + "special", {side.document},
                 "whether the " + side.one + " is [CLS], </s> or the like", side.special, meanings);
}

Axis position_axis(const std::string& name, const std::string& one, Index first, Index count) {
  return counting_axis(name, "token", one + " position", first, first + count - 1);
}

/// Coordinates are positions of the tiles' first tokens.
Axis tile_axis(const std::string& one, Index tiles, Index tile) {
  std::vector<std::int64_t> first;
  for (Index i = 0; i < tiles; ++i) first.push_back(i * tile);
  return {one + "_tile", "token", one + " position where the tile begins", std::move(first)};
}

}  // namespace

std::vector<Field> describe(const AttentionMaps& maps) {
  Fields fields("attention_map");
  const Index rows = maps.weights.empty() ? 0 : maps.weights.front().rows();
  const Index columns = maps.weights.empty() ? 0 : maps.weights.front().cols();
  const Axis head = head_name_axis("map_head", "head", maps.heads);
  const Side queries{"",
                     "query",
                     position_axis("query", "query", maps.first, rows),
                     position_axis("document_query", "query", 0, static_cast<Index>(maps.tokens.size())),
                     maps.tokens,
                     maps.special};
  const Side keys{"key_",
                  "key",
                  position_axis("key", "key", maps.first, columns),
                  position_axis("document_key", "key", 0, static_cast<Index>(maps.key_tokens.size())),
                  maps.key_tokens,
                  maps.key_special};
  fields.add("weight", {head, queries.window, keys.window}, "1", "attention weight of a query token on a key token",
             maps.weights);
  add_tokens(fields, queries, maps.first, !maps.largest.empty());
  add_tokens(fields, keys, maps.first, !maps.largest.empty());
  if (!maps.largest.empty()) {
    const Axis query_tile = tile_axis("query", maps.largest.front().rows(), maps.query_tile);
    const Axis key_tile = tile_axis("key", maps.largest.front().cols(), maps.key_tile);
    fields.add("largest", {head, query_tile, key_tile}, "1", "largest weight in a tile of the document", maps.largest)
        .note("query_tile", maps.query_tile)
        .note("key_tile", maps.key_tile);
    fields.add("mean", {head, query_tile, key_tile}, "1", "mean weight in a tile of the document", maps.mean)
        .note("query_tile", maps.query_tile)
        .note("key_tile", maps.key_tile);
  }
  fields.note_all("document", maps.document);
  return fields.taken();
}

}  // namespace headwave
