#include "resolved_map.h"

#include <algorithm>
#include <cctype>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "../../core/errors/error.h"
#include "../files/printable.h"
#include "families.h"

namespace headwave {

std::string with_mark(std::string name, std::string_view mark, std::string_view text) {
  for (auto at = name.find(mark); at != std::string::npos; at = name.find(mark, at + text.size()))
    name.replace(at, mark.size(), text);
  return name;
}

namespace {

/// Merges another table into a table; the other's keys win.
void merge(toml::table& into, const toml::table& other) {
  for (const auto& [key, node] : other) {
    toml::node* there = into.get(key);
    const toml::table* inner = node.as_table();
    if (there != nullptr && there->is_table() && inner != nullptr && !inner->is_inline())
      merge(*there->as_table(), *inner);
    else
      into.insert_or_assign(key, node);
  }
}

/// Merges a map file into another. Conditions of both are kept, one after another.
void merge_files(toml::table& into, const toml::table& other) {
  std::vector<std::pair<const char*, toml::array>> lists;
  for (const char* key : {"when", "refuse"}) {
    toml::array both;
    for (const toml::table* file : {&std::as_const(into), &other})
      if (const toml::array* entries = file->get_as<toml::array>(key))
        for (const toml::node& entry : *entries) both.push_back(entry);
    lists.emplace_back(key, std::move(both));
  }
  merge(into, other);
  for (auto& [key, list] : lists) into.insert_or_assign(key, std::move(list));
}

/// Replaces a mark in all texts of a node.
void replace_mark(toml::node& node, std::string_view mark, const std::string& text) {
  if (toml::table* table = node.as_table())
    for (auto&& [key, inner] : *table) replace_mark(inner, mark, text);
  if (toml::array* array = node.as_array())
    for (toml::node& inner : *array) replace_mark(inner, mark, text);
  if (auto* here = node.as_string()) *here = with_mark(here->get(), mark, text);
}

class MapResolver {
 public:
  MapResolver(const ModelFacts& facts, const std::string& place) : facts_(facts), place_(place) {}

  ResolvedMap resolve(const toml::table& file) {
    resolved_.table = file;
    if (const toml::node* base = file.get("base")) {
      resolved_.table = family_file(text_of(*base, "base"), place_);
      merge_files(resolved_.table, file);
    }
    replace_mark(resolved_.table, "{prefix}", prefix_of(resolved_.table));
    const toml::table whole = resolved_.table;
    for (const auto& [key, text] : inner(whole, "let"))
      resolved_.names.emplace(std::string(key.str()), text_of(text, "let"));

    const MapExpressions expressions(facts_, resolved_.names, place_);
    each_condition(whole, "refuse", expressions, [&](const toml::table& entry) {
      const toml::node* because = entry.get("because");
      expressions.config().fail(because != nullptr ? text_of(*because, "because") : "the map refuses this config");
    });
    for (const auto& [key, value] : inner(whole, "expect")) require(std::string(key.str()), value, expressions);
    each_condition(whole, "when", expressions, [&](toml::table entry) {
      entry.erase("if");
      merge(resolved_.table, entry);
    });
    if (const toml::node* at = resolved_.table.get("at")) {
      const std::string text = text_of(*at, "at");
      replace_mark(resolved_.table, "{at}", text);
    }
    for (const char* decided : {"base", "classes", "prefixes", "known_by", "at", "let", "expect", "refuse", "when"})
      resolved_.table.erase(decided);
    fill_decoder();
    return std::move(resolved_);
  }

 private:
  [[noreturn]] void fail(std::string_view key, const char* expected) const { fail_map_key(place_, key, expected); }

  [[nodiscard]] std::string text_of(const toml::node& node, std::string_view key) const {
    if (!node.is_string()) fail(key, "a string");
    return node.as_string()->get();
  }

  [[nodiscard]] toml::table inner(const toml::table& table, std::string_view key) const {
    const toml::node* node = table.get(key);
    if (node == nullptr) return {};
    if (!node->is_table()) fail(key, "a table");
    return *node->as_table();
  }

  /// @param list  null: no texts
  [[nodiscard]] std::vector<std::string> texts_of(const toml::node* list, std::string_view key) const {
    std::vector<std::string> texts;
    if (list == nullptr) return texts;
    if (!list->is_array()) fail(key, "a list of strings");
    for (const toml::node& entry : *list->as_array()) texts.push_back(text_of(entry, key));
    return texts;
  }

  /// The first prefix with which the checkpoint has one of the tensors; if there is none, the first of all.
  [[nodiscard]] std::string prefix_of(const toml::table& file) const {
    const std::vector<std::string> prefixes = texts_of(file.get("prefixes"), "prefixes"),
                                   tensors = texts_of(file.get("known_by"), "known_by");
    for (const std::string& prefix : prefixes)
      for (const std::string& tensor : tensors)
        if (facts_.has(prefix + tensor)) return prefix;
    return prefixes.empty() ? "" : prefixes.front();
  }

  template <class Apply>
  void each_condition(const toml::table& file, const char* key, const MapExpressions& expressions, const Apply& apply) {
    const toml::node* list = file.get(key);
    if (list == nullptr) return;
    if (!list->is_array()) fail(key, "a list of tables, each with a condition 'if'");
    for (const toml::node& entry : *list->as_array()) {
      if (!entry.is_table() || !entry.as_table()->contains("if"))
        fail(key, "a list of tables, each with a condition 'if'");
      const toml::table& table = *entry.as_table();
      if (expressions.holds(text_of(*table.get("if"), "if"))) apply(table);
    }
  }

  /// @param node  the value of the key in [expect]
  /// @throws FormatError if config.json has the key with another value
  void require(const std::string& key, const toml::node& node, const MapExpressions& expressions) const {
    const ModelConfig& config = expressions.config();
    if (!config.has(key)) return;
    if (node.is_array()) {
      const std::vector<std::string> words = texts_of(&node, key);
      if (words.empty()) return;
      for (const std::string& word : config.words(key))
        if (std::ranges::find(words, word) == words.end())
          config.fail(fmt::format("'{}' is '{}', expected {}", key, printable(word, 60), fmt::join(words, " or ")));
      return;
    }
    const std::optional<double> wanted = node.is_string()    ? std::optional(expressions.value(text_of(node, key)))
                                         : node.is_boolean() ? std::optional(node.value_or(false) ? 1.0 : 0.0)
                                                             : node.value<double>();
    if (!wanted) fail(key, "a number, true, false, an expression or a list of words");
    if (config.number(key) != *wanted)
      config.fail(fmt::format("'{}' is {}, which changes what the model computes in an unknown way; expected {}", key,
                              config.shown(key),
                              node.is_boolean() ? fmt::format("{}", *wanted != 0) : fmt::format("{}", *wanted)));
  }

  void fill_decoder() {
    toml::table* decoder = resolved_.table.get_as<toml::table>("decoder");
    if (decoder == nullptr || !decoder->contains("like")) return;
    if (text_of(*decoder->get("like"), "like") != "stack" || !resolved_.table.get_as<toml::table>("stack"))
      fail("like", "\"stack\"");
    toml::table whole = *resolved_.table.get_as<toml::table>("stack");
    merge(whole, *decoder);
    whole.erase("like");
    resolved_.table.insert_or_assign("decoder", std::move(whole));
  }

  const ModelFacts& facts_;
  const std::string& place_;
  ResolvedMap resolved_;
};

}  // namespace

ResolvedMap resolved_map(const toml::table& file, const ModelFacts& facts, const std::string& place) {
  return MapResolver(facts, place).resolve(file);
}

toml::table family_file(const std::string& family, const std::string& place) {
  for (const FamilyFile& file : family_files()) {
    if (file.family != family) continue;
    toml::table own = toml_of_text(family + ".toml", file.text);
    const auto base = own["base"].value<std::string>();
    if (!base) return own;
    own.erase("base");
    toml::table whole = family_file(*base, place);
    merge_files(whole, own);
    return whole;
  }
  throw FormatError(fmt::format("{}: there is no family '{}'; expected one of {}", place, printable(family, 60),
                                fmt::join(known_families(), ", ")));
}

void fail_map_key(std::string_view place, std::string_view key, std::string_view expected) {
  throw FormatError(fmt::format("{}: '{}' should be {}; docs/model-map.md explains the keys", place, key, expected));
}

void ask_for_all(const toml::node& map, const ModelConfig& config) {
  if (const toml::table* table = map.as_table())
    for (const auto& [key, node] : *table) ask_for_all(node, config);
  if (const toml::array* array = map.as_array())
    for (const toml::node& node : *array) ask_for_all(node, config);
  const std::string text = map.value_or(std::string());
  if (text.find('{') != std::string::npos) return;  // the name of a tensor
  const auto is_of_key = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '.'; };
  for (auto end = text.begin(); end != text.end();) {
    const auto begin = std::find_if(end, text.end(), is_of_key);
    end = std::find_if_not(begin, text.end(), is_of_key);
    if (begin != end) (void)config.has({begin, end});
  }
}

std::string family_of_class(const std::string& name) {
  std::string best, family;
  for (const FamilyFile& file : family_files()) {
    const toml::table table = toml_of_text(std::string(file.family) + ".toml", file.text);
    const toml::array* classes = table.get_as<toml::array>("classes");
    if (classes == nullptr) continue;
    for (const toml::node& entry : *classes) {
      const std::string beginning = entry.value_or(std::string());
      if (beginning.size() <= best.size() || !name.starts_with(beginning)) continue;
      best = beginning;
      family = file.family;
    }
  }
  return family;
}

}  // namespace headwave
