#include "array_map.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../../core/model/model.h"
#include "../files/printable.h"
#include "../files/toml_reader.h"
#include "found_arrays.h"
#include "named_arrays.h"

namespace headwave {

namespace {

/// Calls `visit` with every fact: the attribute that it is in a file, its key in a map, and its value.
template <class Facts, class Visit>
void each_fact(Facts& facts, const Visit& visit) {
  visit("num_heads", "heads", facts.heads);
  visit("head_dim", "d_head", facts.d_head);
  visit("window", "window", facts.window);
  visit("causal", "causal", facts.causal);
  visit("turned", "turned", facts.turned);
  visit("score_scale", "score_scale", facts.scale);
}

constexpr std::array<std::pair<std::string_view, ArrayAxis>, array_axis_kinds> axis_words{
    {{"layer", ArrayAxis::layer},
     {"document", ArrayAxis::document},
     {"head", ArrayAxis::head},
     {"token", ArrayAxis::token},
     {"width", ArrayAxis::width},
     {"query", ArrayAxis::query},
     {"key", ArrayAxis::key}}};
constexpr const char* page = "docs/inputs.md";

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

/// Reads a name, or a table with more about the array.
void read_dataset(TomlReader& keys, std::string_view key, MappedArray& dataset) {
  const toml::node* node = keys.look(key);
  if (node == nullptr) return;
  if (!node->is_table()) return keys(key, dataset.name);
  TomlReader inner(*node->as_table(), fmt::format("{}: [{}]", keys.place(), key), page);
  inner("name", dataset.name);
  if (dataset.name.empty()) inner.fail("name", "the name of a dataset, with {layer} where the layer's number stands");
  std::string axes;
  inner("axes", axes);
  if (inner.has("axes")) {
    const auto order = array_axes(axes);
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
    inner.fail("layers", "omitted where the name says the layer: they are those of an axis");
  if (!dataset.layers.empty() && inner.has("first_layer"))
    inner.fail("first_layer", "omitted where 'layers' says them all");
  inner.refuse_others();
}

}  // namespace

std::string text_of(const AttentionFacts& facts) {
  std::string text;
  each_fact(facts, [&](const char* name, const char* /*key*/, const auto& fact) {
    if (fact) text += fmt::format("{}{} {:g}", text.empty() ? "" : ", ", name, static_cast<double>(*fact));
  });
  return text.empty() ? "nothing" : text;
}

AttentionFacts attention_facts(const NamedArrays& arrays, const AttentionFacts& mapped) {
  AttentionFacts facts = mapped;
  each_fact(facts, [&]<class Value>(const char* name, const char* /*key*/, std::optional<Value>& fact) {
    const std::optional<double> number = fact ? std::nullopt : arrays.number(name);
    if (!number) return;
    const char* expected = nullptr;
    if constexpr (std::is_same_v<Value, bool>)
      expected = *number == 0 || *number == 1 ? nullptr : "0 or 1";
    else if constexpr (std::is_same_v<Value, Index>)
      expected =
          *number >= 1 && *number <= 1e6 && *number == std::floor(*number) ? nullptr : "a whole number of at least 1";
    else
      expected = *number > 0 ? nullptr : "a number above 0";
    if (expected != nullptr)
      throw FormatError(
          fmt::format("{}: attribute '{}' is {:g}, expected {}", arrays.path().string(), name, *number, expected));
    fact = static_cast<Value>(*number);
  });
  return facts;
}

void require_same_attention(const std::filesystem::path& path, const AttentionFacts& facts, const BlockSpec& spec) {
  // Attributes are often float32: seven digits.
  const auto require = [&](const char* name, const auto& fact, double model, double tolerance = 0) {
    if (fact && std::abs(static_cast<double>(*fact) - model) > tolerance)
      throw ShapeError(fmt::format("{}: attribute '{}' is {:g}, the model's is {:g}; are the states from this model?",
                                   path.string(), name, static_cast<double>(*fact), model));
  };
  require("num_heads", facts.heads, static_cast<double>(spec.heads));
  require("head_dim", facts.d_head, static_cast<double>(spec.d_head));
  require("causal", facts.causal, spec.causal ? 1 : 0);
  require("window", facts.window, static_cast<double>(spec.window));
  require("score_scale", facts.scale, spec.score_scale, 1e-6 * spec.score_scale);
}

std::optional<std::vector<ArrayAxis>> array_axes(std::string_view text) {
  std::vector<ArrayAxis> axes;
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
  const auto has = [&](ArrayAxis axis) { return std::ranges::find(axes, axis) != axes.end(); };
  const bool states = has(ArrayAxis::token) && has(ArrayAxis::width);
  const bool attention = has(ArrayAxis::query) && has(ArrayAxis::key);
  const bool mixed = has_keys(axes) && (has(ArrayAxis::token) || has(ArrayAxis::width));
  if (mixed || !(states || attention)) return {};
  return axes;
}

bool has_keys(const std::vector<ArrayAxis>& axes) {
  return std::ranges::find(axes, ArrayAxis::query) != axes.end() ||
         std::ranges::find(axes, ArrayAxis::key) != axes.end();
}

std::string axes_text(const std::vector<ArrayAxis>& axes) {
  std::string text;
  for (const ArrayAxis axis : axes) {
    const auto found = std::ranges::find(axis_words, axis, [](const auto& known) { return known.second; });
    text += fmt::format("{}{}", text.empty() ? "" : ", ", found->first);
  }
  return text;
}

ArrayMap read_array_map(const std::filesystem::path& file) {
  const toml::table table = toml_of_file(file, "a map of stored states");
  TomlReader keys(table, shown_path(file), page);
  ArrayMap map;
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
  each_fact(map.facts, [&]<class Value>(const char* /*name*/, const char* key, std::optional<Value>& fact) {
    Value value{};
    keys(key, value);
    if (!keys.has(key)) return;
    if constexpr (!std::is_same_v<Value, bool>)
      if (value <= 0) keys.fail(key, "more than 0");
    fact = value;
  });
  keys.refuse_others();
  return map;
}

}  // namespace headwave
