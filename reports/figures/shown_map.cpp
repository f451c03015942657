#include "shown_map.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../drawing/field_values.h"
#include "chosen_maps.h"

namespace headwave {

namespace {

constexpr Index most_tokens = 256;

/// @throws ShapeError unless there is one of something for each query, or key
void require_each(const char* name, std::size_t found, Index expected) {
  if (static_cast<Index>(found) != expected)
    throw ShapeError(fmt::format("{}: expected {} entries, one for each of the map, found {}", name, expected, found));
}

std::vector<std::string> tokens_of(const Result& result, const char* name, const char* axis, Index all, Index shown) {
  const auto& texts = strings_of(result, name, {axis});
  require_each(name, texts.size(), all);
  return {texts.begin(), texts.begin() + shown};
}

std::vector<std::uint8_t> special_of(const Result& result, const char* name, const char* axis, Index all) {
  if (result.find(name) == nullptr) return std::vector<std::uint8_t>(static_cast<std::size_t>(all), 0);
  const auto& special = flags_of(result, name, {axis});
  require_each(name, special.size(), all);
  return special;
}

}  // namespace

double ShownMap::largest(std::size_t head) const {
  double most = 0.0;
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < columns; ++j)
      if (query_special[static_cast<std::size_t>(i)] + key_special[static_cast<std::size_t>(j)] == 0)
        if (const double found = weight(head, i, j); std::isfinite(found)) most = std::max(most, found);
  return most > 0 ? most : 1.0;
}

ShownMap shown_map(const Result& result, Index tokens) {
  const Field& field = result.at(map_weight_name);
  ShownMap map;
  map.weights = &doubles_of(result, map_weight_name, {"map_head", "query", "key"});
  const auto queries = whole_coordinates(field, "query");
  map.queries = static_cast<Index>(queries.size());
  map.keys = field.axis("key").size();
  map.rows = std::min({tokens, map.queries, most_tokens});
  map.columns = std::min({tokens, map.keys, most_tokens});
  if (map.rows < 1 || map.columns < 1 || map.weights->empty())
    throw ShapeError(fmt::format("{}: holds no weights to draw", map_weight_name));
  map.first = queries.front();
  if (const auto found = field.attributes.find("document"); found != field.attributes.end())
    if (const auto* name = std::get_if<std::string>(&found->second)) map.document = *name;
  map.query_special = special_of(result, "attention_map/special", "query", map.queries);
  map.key_special = special_of(result, "attention_map/key_special", "key", map.keys);
  map.query_labels = tokens_of(result, "attention_map/token", "query", map.queries, map.rows);
  map.key_labels = tokens_of(result, "attention_map/key_token", "key", map.keys, map.columns);
  return map;
}

}  // namespace headwave
