#include "array_map.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../../core/model/model.h"
#include "../files/printable.h"
#include "../files/toml_reader.h"
#include "array_names.h"
#include "named_arrays.h"

namespace headwave {

namespace {

/// What the map says, and where it is silent the attributes beside the arrays.
class Facts {
 public:
  Facts(const NamedArrays& arrays, const AttentionFacts& mapped) : arrays_(arrays), said_(mapped) {
    fill(said_.heads, "num_heads");
    fill(said_.d_head, "head_dim");
    fill(said_.window, "window");
    fill(said_.causal, "causal");
    fill(said_.turned, "turned");
    if (!said_.scale) said_.scale = arrays.number("score_scale");
    if (said_.scale && *said_.scale <= 0) refuse("score_scale", *said_.scale, "a number above 0");
  }
  [[nodiscard]] const AttentionFacts& said() const { return said_; }

 private:
  [[noreturn]] void refuse(const char* name, double came, const char* expected) const {
    throw FormatError(
        fmt::format("{}: attribute '{}' is {:g}, expected {}", arrays_.path().string(), name, came, expected));
  }
  void fill(std::optional<Index>& size, const char* name) const {
    const std::optional<double> number = size ? std::nullopt : arrays_.number(name);
    if (!number) return;
    if (*number < 1 || *number > 1e6 || *number != std::floor(*number))
      refuse(name, *number, "a whole number of at least 1");
    size = static_cast<Index>(*number);
  }
  void fill(std::optional<bool>& flag, const char* name) const {
    const std::optional<double> number = flag ? std::nullopt : arrays_.number(name);
    if (!number) return;
    if (*number != 0 && *number != 1) refuse(name, *number, "0 or 1");
    flag = *number == 1;
  }

  const NamedArrays& arrays_;
  AttentionFacts said_;
};

constexpr std::array<std::pair<std::string_view, ArrayAxis>, array_axis_kinds> axis_words{
    {{"layer", ArrayAxis::layer},
     {"document", ArrayAxis::document},
     {"head", ArrayAxis::head},
     {"token", ArrayAxis::token},
     {"width", ArrayAxis::width},
     {"query", ArrayAxis::query},
     {"key", ArrayAxis::key}}};
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

std::string text_of(const AttentionFacts& stated) {
  std::string text;
  const auto say = [&](const char* name, const auto& said) {
    if (said) text += fmt::format("{}{} {:g}", text.empty() ? "" : ", ", name, static_cast<double>(*said));
  };
  say("num_heads", stated.heads);
  say("head_dim", stated.d_head);
  say("window", stated.window);
  say("causal", stated.causal);
  say("turned", stated.turned);
  say("score_scale", stated.scale);
  return text.empty() ? "nothing" : text;
}

AttentionFacts attention_facts(const NamedArrays& arrays, const AttentionFacts& mapped) {
  return Facts(arrays, mapped).said();
}

void require_same_attention(const std::filesystem::path& path, const AttentionFacts& stated, const BlockSpec& spec) {
  const auto differs = [&](const char* name, double came, double model) {
    throw ShapeError(fmt::format("{}: attribute '{}' is {:g}, the model's is {:g}; are the states from this model?",
                                 path.string(), name, came, model));
  };
  const auto number = [](auto value) { return static_cast<double>(value); };
  if (stated.heads && *stated.heads != spec.heads) differs("num_heads", number(*stated.heads), number(spec.heads));
  if (stated.d_head && *stated.d_head != spec.d_head) differs("head_dim", number(*stated.d_head), number(spec.d_head));
  if (stated.causal && *stated.causal != spec.causal) differs("causal", number(*stated.causal), number(spec.causal));
  if (stated.window && *stated.window != spec.window) differs("window", number(*stated.window), number(spec.window));
  // Attributes are often float32: seven digits.
  if (stated.scale && std::abs(*stated.scale - spec.score_scale) > 1e-6 * spec.score_scale)
    differs("score_scale", *stated.scale, spec.score_scale);
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
