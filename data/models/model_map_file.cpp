#include "model_map_file.h"

#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "../../core/errors/error.h"
#include "../files/toml_reader.h"
#include "model_map_defaults.h"
#include "model_map_keys.h"

namespace headwave {

namespace {

/// One table of a map file while it is read.
class MapReader : public TomlReader {
 public:
  MapReader(const toml::table& table, const std::string& place) : TomlReader(table, place, "docs/model-map.md") {}

  using TomlReader::operator();
  void operator()(std::string_view key, TensorNames& value) {
    const toml::node* node = look(key);
    if (node == nullptr) return;
    const toml::array* both = node->as_array();
    const auto* weight = both != nullptr && both->size() == 2 ? both->get_as<std::string>(0) : node->as_string();
    const auto* bias = both != nullptr ? both->get_as<std::string>(1) : nullptr;
    if (weight == nullptr || (both != nullptr && bias == nullptr)) fail(key, "the name of a tensor, or [weight, bias]");
    value = {weight->get(), bias != nullptr ? bias->get() : ""};
  }
  void operator()(std::string_view key, std::vector<std::string>& value) {
    const toml::node* node = look(key);
    if (node == nullptr) return;
    if (!node->is_array()) fail(key, "a list of names of tensors");
    for (const toml::node& entry : *node->as_array()) {
      const auto* name = entry.as_string();
      if (name == nullptr) fail(key, "a list of names of tensors");
      value.push_back(name->get());
    }
  }
  void operator()(std::string_view key, std::vector<Index>& value) {
    const toml::node* node = look(key);
    if (node == nullptr) return;
    const toml::array* list = node->as_array();
    if (list == nullptr || list->size() > static_cast<std::size_t>(most_layers)) fail(key, "a list of layers");
    for (const toml::node& entry : *list) {
      const auto* layer = entry.as_integer();
      if (layer == nullptr) fail(key, "a list of layers");
      value.push_back(static_cast<Index>(layer->get()));
    }
  }
  template <class Value>
  void usual(std::string_view key, Value& value, Value /*usual*/) {
    (*this)(key, value);
  }
  template <class Enum, std::size_t count>
  void operator()(std::string_view key, Enum& value, const Words<Enum, count>& words) {
    const toml::node* node = look(key);
    if (node == nullptr) return;
    std::string known;
    const auto found = node->value_or(known);
    for (const auto& [word, meaning] : words) {
      if (found == word) {
        value = meaning;
        return;
      }
      known += (known.empty() ? "" : ", ") + std::string(word);
    }
    fail(key, "one of " + known);
  }
  template <class Visit>
  void table(std::string_view key, const Visit& visit) {
    const toml::node* node = look(key);
    if (node == nullptr) return;
    if (!node->is_table()) fail(key, "a table");
    MapReader inner(*node->as_table(), fmt::format("{}: [{}]", place(), key));
    visit(inner);
    inner.refuse_others();
  }
};

/// One table of a map file while it is written: what is empty, false or zero is left out.
class MapWriter {
 public:
  /// @param path  of the table; empty: the file itself
  explicit MapWriter(std::string path) : path_(std::move(path)) {}

  void operator()(std::string_view key, const Index& value) {
    if (value != 0) line(key, fmt::format("{}", value));
  }
  void operator()(std::string_view key, const double& value) { line(key, number(fmt::format("{}", value))); }
  void operator()(std::string_view key, const float& value) { line(key, number(fmt::format("{}", value))); }
  void operator()(std::string_view key, const bool& value) {
    if (value) line(key, "true");
  }
  void operator()(std::string_view key, const std::string& value) {
    if (!value.empty()) line(key, quoted(value));
  }
  void operator()(std::string_view key, const TensorNames& value) {
    if (value.empty()) return;
    line(key,
         value.bias.empty() ? quoted(value.weight) : fmt::format("[{}, {}]", quoted(value.weight), quoted(value.bias)));
  }
  void operator()(std::string_view key, const std::vector<std::string>& value) {
    std::string list;
    for (const std::string& name : value) list += (list.empty() ? "" : ", ") + quoted(name);
    if (!list.empty()) line(key, "[" + list + "]");
  }
  void operator()(std::string_view key, const std::vector<Index>& value) {
    if (!value.empty()) line(key, fmt::format("[{}]", fmt::join(value, ", ")));
  }
  /// Left out where it is what it usually is.
  void usual(std::string_view key, const double& value, double usual) {
    if (value != usual) (*this)(key, value);
  }
  void usual(std::string_view key, const float& value, float usual) {
    if (value != usual) (*this)(key, value);
  }
  void usual(std::string_view key, const bool& value, bool usual) {
    if (value != usual) line(key, value ? "true" : "false");
  }
  template <class Enum, std::size_t count>
  void operator()(std::string_view key, const Enum& value, const Words<Enum, count>& words) {
    for (const auto& [word, meaning] : words)
      if (meaning == value && value != Enum{}) line(key, quoted(word));
  }
  template <class Visit>
  void table(std::string_view key, const Visit& visit) {
    MapWriter inner(path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key));
    visit(inner);
    if (!inner.lines_.empty() || !inner.inner_.empty()) inner_ += inner.text();
  }

  [[nodiscard]] std::string text() const {
    return path_.empty() ? lines_ + inner_ : fmt::format("\n[{}]\n{}{}", path_, lines_, inner_);
  }

 private:
  /// TOML tells whole numbers from others by the point.
  static std::string number(const std::string& text) {
    return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
  }
  static std::string quoted(const std::string& text) {
    std::ostringstream out;
    const toml::value<std::string> value(text);
    out << toml::toml_formatter(value, toml::format_flags::none);
    return out.str();
  }
  void line(std::string_view key, const std::string& value) { lines_ += fmt::format("{} = {}\n", key, value); }

  std::string path_, lines_, inner_;
};

}  // namespace

ModelMap model_map_file(const std::filesystem::path& file) {
  const toml::table table = toml_of_file(file, "a model map");
  ModelMap map;
  map.reason = fmt::format("{} says so", file.filename().string());
  map.family = "model of a map";
  MapReader keys(table, file.string());
  keys("family", map.family);
  keys("longest", map.longest);
  keys("longest_target", map.longest_target);
  if (!keys.has("stack")) keys.fail("stack", "a table: what the model is made of");
  map.stack.block.score_scale = 0;
  keys.table("stack", [&](MapReader& inner) { visit_stack(inner, map.stack); });
  map.stack = completed(std::move(map.stack), fmt::format("{}: [stack]", file.string()));
  if (keys.has("decoder")) {
    map.decoder.emplace().block.score_scale = 0;
    keys.table("decoder", [&](MapReader& inner) { visit_stack(inner, *map.decoder); });
    map.decoder = completed(std::move(*map.decoder), fmt::format("{}: [decoder]", file.string()));
    if (map.decoder->cross.empty())
      throw FormatError(
          fmt::format("{}: [decoder]: expected 'cross_query' and the like: it reads an encoder", file.string()));
  }
  keys.table("prediction", [&](MapReader& inner) { visit_prediction(inner, map.prediction); });
  if (map.stack.positions.has_table() && map.longest == 0)
    map.longest = map.stack.positions.rows - map.stack.positions.first_row;
  if (map.stack.positions.kind == PositionKind::sinusoids && map.longest == 0)
    keys.fail("longest", "the longest document in tokens: sinusoids have no end of their own");
  keys("ignored", map.ignored);
  keys("classifiers", map.classifiers);
  keys.refuse_others();
  return map;
}

std::string model_map_text(const ModelMap& map) {
  ModelMap copy = map;  // the visitors take what they could also fill in
  MapWriter keys("");
  keys("family", copy.family);
  keys("longest", copy.longest);
  keys("longest_target", copy.longest_target);
  keys("ignored", copy.ignored);
  keys("classifiers", copy.classifiers);
  keys.table("stack", [&](MapWriter& inner) { visit_stack(inner, copy.stack); });
  if (copy.decoder) keys.table("decoder", [&](MapWriter& inner) { visit_stack(inner, *copy.decoder); });
  if (!copy.prediction.words.empty())
    keys.table("prediction", [&](MapWriter& inner) { visit_prediction(inner, copy.prediction); });
  return fmt::format("# {}\n{}", map.reason, keys.text());
}

}  // namespace headwave
