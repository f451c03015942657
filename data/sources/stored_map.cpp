#include "stored_map.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../../core/model/model.h"
#include "../files/printable.h"
#include "../files/toml_reader.h"
#include "name_pattern.h"

namespace headwave {

namespace {

constexpr std::array<std::pair<std::string_view, StoredAxis>, stored_axis_kinds> axis_words{
    {{"layer", StoredAxis::layer},
     {"document", StoredAxis::document},
     {"head", StoredAxis::head},
     {"token", StoredAxis::token},
     {"width", StoredAxis::width},
     {"query", StoredAxis::query},
     {"key", StoredAxis::key}}};
constexpr const char* page = "docs/stored-states.md";

void read_layers(TomlReader& keys, std::vector<Index>& layers) {
  const toml::node* node = keys.look("layers");
  if (node == nullptr) return;
  const toml::array* list = node->as_array();
  const std::string expected = fmt::format("a list of layers from 0 to {}", most_layers - 1);
  if (list == nullptr || list->empty()) keys.fail("layers", expected);
  for (const toml::node& entry : *list) {
    const auto number = entry.is_integer() ? entry.value<std::int64_t>() : std::nullopt;
    if (!number || *number < 0 || *number >= most_layers) keys.fail("layers", expected);
    layers.push_back(static_cast<Index>(*number));
  }
}

/// A name alone, or a table with more about it.
void read_dataset(TomlReader& keys, std::string_view key, StoredDataset& dataset) {
  const toml::node* node = keys.look(key);
  if (node == nullptr) return;
  if (!node->is_table()) return keys(key, dataset.name);
  TomlReader inner(*node->as_table(), fmt::format("{}: [{}]", keys.place(), key), page);
  inner("name", dataset.name);
  if (dataset.name.empty()) inner.fail("name", "the name of a dataset, with {layer} where the layer's number stands");
  std::string axes;
  inner("axes", axes);
  if (inner.has("axes")) {
    const auto order = stored_axes(axes);
    if (!order) inner.fail("axes", expected_axes);
    if (has_keys(*order) != (key == "attention"))
      inner.fail("axes", key == "attention" ? "those of finished attention, query and key among them"
                                            : "token and width, not query and key, which finished attention has");
    dataset.axes = *order;
  }
  inner("first_number", dataset.first_number);
  inner("first_layer", dataset.first_layer);
  read_layers(inner, dataset.layers);
  if (!dataset.layers.empty() && has_layer_mark(dataset.name))
    inner.fail("layers", "left away where the name says the layer: they are those of an axis");
  if (!dataset.layers.empty() && inner.has("first_layer"))
    inner.fail("first_layer", "left away where 'layers' says them all");
  inner.refuse_others();
}

template <class Value>
void read_stated(TomlReader& keys, std::string_view key, std::optional<Value>& stated) {
  Value value{};
  keys(key, value);
  if (!keys.has(key)) return;
  if constexpr (!std::is_same_v<Value, bool>)
    if (value <= 0) keys.fail(key, "more than 0");
  stated = value;
}

}  // namespace

std::optional<std::vector<StoredAxis>> stored_axes(std::string_view text) {
  std::vector<StoredAxis> axes;
  while (true) {
    const std::size_t comma = text.find(',');
    std::string_view word = text.substr(0, comma);
    word.remove_prefix(std::min(word.find_first_not_of(' '), word.size()));
    word = word.substr(0, word.find_last_not_of(' ') + 1);
    const auto found = std::ranges::find(axis_words, word, [](const auto& known) { return known.first; });
    if (found == axis_words.end() || std::ranges::find(axes, found->second) != axes.end()) return {};
    axes.push_back(found->second);
    if (comma == text.npos) break;
    text.remove_prefix(comma + 1);
  }
  const auto has = [&](StoredAxis axis) { return std::ranges::find(axes, axis) != axes.end(); };
  const bool states = has(StoredAxis::token) && has(StoredAxis::width);
  const bool attention = has(StoredAxis::query) && has(StoredAxis::key);
  const bool mixed = has_keys(axes) && (has(StoredAxis::token) || has(StoredAxis::width));
  if (mixed || !(states || attention)) return {};
  return axes;
}

bool has_keys(const std::vector<StoredAxis>& axes) {
  return std::ranges::find(axes, StoredAxis::query) != axes.end() ||
         std::ranges::find(axes, StoredAxis::key) != axes.end();
}

std::string axes_text(const std::vector<StoredAxis>& axes) {
  std::string text;
  for (const StoredAxis axis : axes) {
    const auto found = std::ranges::find(axis_words, axis, [](const auto& known) { return known.second; });
    text += fmt::format("{}{}", text.empty() ? "" : ", ", found->first);
  }
  return text;
}

StoredMap stored_map_file(const std::filesystem::path& file) {
  const toml::table table = toml_of_file(file, "a map of stored states");
  TomlReader keys(table, shown_path(file), page);
  StoredMap map;
  read_dataset(keys, "states", map.states);
  read_dataset(keys, "queries", map.queries);
  read_dataset(keys, "keys", map.keys);
  read_dataset(keys, "attention", map.attention);
  const bool others = !map.states.name.empty() || !map.queries.name.empty() || !map.keys.name.empty();
  if (!map.attention.name.empty() && others)
    keys.fail("attention", "given alone: it is finished, and states, queries and keys would not be read");
  if (map.attention.name.empty() && map.states.name.empty() && map.queries.name.empty())
    keys.fail("states", "the name of a dataset, where neither 'queries' and 'keys' nor 'attention' are given");
  if (map.queries.name.empty() != map.keys.name.empty())
    keys.fail(map.keys.name.empty() ? "keys" : "queries", "given beside the other: attention needs both");
  keys("ids", map.ids);
  keys("special", map.special);
  keys("tokens", map.tokens);
  keys("document_name", map.document_name);
  read_stated(keys, "heads", map.stated.heads);
  read_stated(keys, "d_head", map.stated.d_head);
  read_stated(keys, "window", map.stated.window);
  read_stated(keys, "causal", map.stated.causal);
  read_stated(keys, "turned", map.stated.turned);
  read_stated(keys, "score_scale", map.stated.scale);
  keys.refuse_others();
  return map;
}

}  // namespace headwave
