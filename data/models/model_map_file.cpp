#include "model_map_file.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "../../core/errors/error.h"
#include "../files/printable.h"
#include "families.h"
#include "model_map_keys.h"
#include "resolved_map.h"

namespace headwave {

namespace {

/// What config.json calls activations, in the words of a map.
constexpr std::pair<std::string_view, std::string_view> config_activations[]{
    // NOLINT(modernize-avoid-c-arrays): its length is its own
    {"gelu", "gelu"},           {"gelu_new", "gelu_tanh"}, {"gelu_pytorch_tanh", "gelu_tanh"},
    {"gelu_fast", "gelu_tanh"}, {"relu", "relu"},          {"silu", "silu"},
    {"swish", "silu"}};

/// A larger size is a typing error.
constexpr std::int64_t largest_whole = 1 << 26;

/// One table of a map file while it is read: each key by its name, then keys that nobody read are refused. A number or a
/// switch may be an expression. A value stays as it is if the table does not have its key.
class MapReader {
 public:
  /// @param place  the file and the table in it, as messages begin
  MapReader(const toml::table& table, std::string place, const MapExpressions& expressions)
      : table_(table), place_(std::move(place)), expressions_(expressions) {}

  [[nodiscard]] const std::string& place() const { return place_; }
  [[nodiscard]] bool has(std::string_view key) const { return table_.contains(key); }
  /// @throws FormatError always: the file, the key, what it should be
  [[noreturn]] void fail(std::string_view key, const std::string& expected) const {
    throw FormatError(fmt::format("{}: '{}' should be {}; docs/model-map.md explains the keys", place_, key, expected));
  }
  /// @throws FormatError if a key was not read: a typing error, or an option that would be ignored in silence
  void refuse_others() const {
    for (const auto& [key, node] : table_)
      if (!seen_.contains(std::string(key.str())))
        throw FormatError(fmt::format("{}: '{}' is not a key that is known here; docs/model-map.md explains the keys",
                                      place_, printable(std::string(key.str()), 60)));
  }

  void operator()(std::string_view key, Index& value) {
    const toml::node* node = look(key);
    if (node == nullptr) return;
    if (const auto text = node->value<std::string>()) {
      value = expressions_.whole(*text);
      return;
    }
    const auto number = node->is_integer() ? node->value<std::int64_t>() : std::nullopt;
    if (!number || *number < 0 || *number > largest_whole)
      fail(key, fmt::format("a whole number from 0 to {}", largest_whole));
    value = static_cast<Index>(*number);
  }
  void operator()(std::string_view key, double& value) {
    const toml::node* node = look(key);
    if (node == nullptr) return;
    if (const auto text = node->value<std::string>()) {
      value = expressions_.positive(*text);
      return;
    }
    const auto number = node->is_number() ? node->value<double>() : std::nullopt;
    if (!number || !std::isfinite(*number) || *number < 0) fail(key, "a number that is not below 0");
    value = *number;
  }
  void operator()(std::string_view key, float& value) {
    auto number = static_cast<double>(value);
    (*this)(key, number);
    value = static_cast<float>(number);
  }
  void operator()(std::string_view key, bool& value) {
    const toml::node* node = look(key);
    if (node == nullptr) return;
    const auto text = node->value<std::string>();
    if (!text && !node->is_boolean()) fail(key, "true or false");
    value = text ? expressions_.holds(*text) : node->as_boolean()->get();
  }
  void operator()(std::string_view key, std::string& value) {
    const toml::node* node = look(key);
    if (node == nullptr) return;
    if (!node->is_string()) fail(key, "a name, as text");
    value = node->as_string()->get();
  }
  void operator()(std::string_view key, TensorNames& value) {
    const toml::node* node = look(key);
    if (node == nullptr) return;
    const toml::array* both = node->as_array();
    const auto* weight = both != nullptr && both->size() == 2 ? both->get_as<std::string>(0) : node->as_string();
    const auto* bias = both != nullptr ? both->get_as<std::string>(1) : nullptr;
    if (weight == nullptr || (both != nullptr && bias == nullptr)) fail(key, "the name of a tensor, or [weight, bias]");
    value = {weight->get(), bias != nullptr ? bias->get() : ""};
    split_braces(value);
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
  void operator()(std::string_view key, std::vector<double>& value) {
    const toml::node* node = look(key);
    if (node == nullptr) return;
    if (!node->is_array()) fail(key, "a list of numbers above 0");
    for (const toml::node& entry : *node->as_array()) {
      const auto number = entry.value<double>();
      if (!number || *number <= 0) fail(key, "a list of numbers above 0");
      value.push_back(*number);
    }
  }
  /// A list of layers, or a rule in config.json's words; of several rules that apply all must find the same
  /// layers.
  void layers(std::string_view key, std::vector<Index>& value, Index count) {
    const toml::node* node = look(key);
    if (node == nullptr) return;
    if (const toml::table* rule = node->as_table()) {
      value = by_rule(key, *rule, count).value_or(std::vector<Index>{});
      return;
    }
    const toml::array* list = node->as_array();
    if (list == nullptr || list->size() > static_cast<std::size_t>(most_layers)) fail(key, "a list of layers");
    bool any_rule = false;
    for (const toml::node& entry : *list) {
      if (const toml::table* rule = entry.as_table()) {
        const auto found = by_rule(key, *rule, count);
        if (found && any_rule && *found != value)
          expressions_.config().fail(fmt::format("{} names layers {}, but another setting {}; expected the same",
                                                 rule->get("key")->value_or(std::string()), fmt::join(*found, ", "),
                                                 fmt::join(value, ", ")));
        if (found) value = *found;
        any_rule = true;
        continue;
      }
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
    const std::optional<std::string> found =
        node->is_table() ? said_in_config(key, *node->as_table()) : node->value<std::string>();
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
    MapReader inner(*node->as_table(), fmt::format("{}: [{}]", place(), key), expressions_);
    visit(inner);
    inner.refuse_others();
  }
  void rope(std::string_view key, std::optional<RopeKeys>& value) {
    table(key, [&](MapReader& inner) { visit_rope(inner, value.emplace()); });
  }

 private:
  /// The value of a key, which counts as read; null if there is none.
  const toml::node* look(std::string_view key) {
    seen_.insert(std::string(key));
    return table_.get(key);
  }

  /// "NAME.{weight,bias}" stands for both.
  static void split_braces(TensorNames& names) {
    const auto comma = names.weight.find(',');
    if (comma == std::string::npos || !names.bias.empty()) return;
    const auto open = names.weight.rfind('{', comma), close = names.weight.find('}', comma);
    if (open == std::string::npos || close == std::string::npos) return;
    const std::string before = names.weight.substr(0, open), after = names.weight.substr(close + 1);
    names.bias = before + names.weight.substr(comma + 1, close - comma - 1) + after;
    names.weight = before + names.weight.substr(open + 1, comma - open - 1) + after;
  }

  /// { key = "hidden_act", else = "gelu", words = { ... } }: a word of config.json in the words of a map.
  std::string said_in_config(std::string_view key, const toml::table& rule) {
    const auto config_key = rule.get("key") != nullptr ? rule.get("key")->value<std::string>() : std::nullopt;
    if (!config_key) fail(key, "a word, or { key = \"KEY\", else = \"WORD\" }");
    const ModelConfig& config = expressions_.config();
    const toml::node* otherwise = rule.get("else");
    const std::string said =
        config.text_or(*config_key, otherwise != nullptr ? otherwise->value_or(std::string()) : "");
    std::vector<std::string> known;
    if (const toml::table* words = rule.get_as<toml::table>("words"))
      for (const auto& [word, meaning] : *words) {
        if (word.str() == said) return meaning.value_or(std::string());
        known.emplace_back(word.str());
      }
    else
      for (const auto& [word, meaning] : config_activations) {
        if (word == said) return std::string(meaning);
        known.emplace_back(word);
      }
    config.fail(fmt::format("'{}' is '{}', expected {}", *config_key, printable(said, 60), fmt::join(known, " or ")));
  }

  /// { key = "layer_types", pick = "sliding_attention", of = [...], else = "layer % 2 == 0" }: the layers
  /// that a list in config.json gives the word `pick`, or else those for which the expression holds. { where =
  /// "layer < 3" }: those for which the expression holds.
  /// @returns nothing where config.json has no such list and there is no `else`
  std::optional<std::vector<Index>> by_rule(std::string_view key, const toml::table& rule, Index count) {
    const auto text = [&](const char* name) {
      const toml::node* node = rule.get(name);
      return node == nullptr ? std::nullopt : node->value<std::string>();
    };
    if (const auto where = text("where")) {
      std::vector<Index> found;
      for (Index layer = 0; layer < std::min(count, most_layers); ++layer)
        if (expressions_.holds_in_layer(*where, layer)) found.push_back(layer);
      return found;
    }
    const auto list = text("key"), pick = text("pick"), otherwise = text("else");
    if (!list || !pick)
      fail(key,
           "a list of layers, { key = \"KEY\", pick = \"WORD\", else = \"EXPRESSION\" } or { where = \"EXPRESSION\" }");
    const ModelConfig& config = expressions_.config();
    if (count > most_layers) config.fail(fmt::format("it has {} layers; expected at most {}", count, most_layers));
    const bool listed = config.has(*list);
    if (!listed && !otherwise) return {};
    const std::vector<std::string> words = listed ? config.by_layer(*list, count) : std::vector<std::string>{};
    std::vector<Index> picked;
    for (Index layer = 0; layer < count; ++layer) {
      if (!listed) {
        if (expressions_.holds_in_layer(*otherwise, layer)) picked.push_back(layer);
        continue;
      }
      const std::string& word = words[static_cast<std::size_t>(layer)];
      if (const toml::array* allowed = rule.get_as<toml::array>("of"))
        if (std::ranges::none_of(*allowed, [&](const toml::node& one) { return one.value<std::string>() == word; }))
          config.fail(fmt::format("'{}' has '{}', expected one of {} words that are known here", *list,
                                  printable(word, 60), allowed->size()));
      if (word == *pick) picked.push_back(layer);
    }
    return picked;
  }

  const toml::table& table_;
  std::string place_;
  const MapExpressions& expressions_;
  std::set<std::string> seen_;
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
  void operator()(std::string_view key, const std::vector<double>& value) {
    std::string list;
    for (const double one : value) list += (list.empty() ? "" : ", ") + number(fmt::format("{}", one));
    line(key, "[" + list + "]");
  }
  void layers(std::string_view key, const std::vector<Index>& value, Index /*count*/) {
    if (!value.empty()) line(key, fmt::format("[{}]", fmt::join(value, ", ")));
  }
  void rope(std::string_view /*key*/, const std::optional<RopeKeys>& /*value*/) {}  // `rotary` has followed from it
  /// Left out where it is what it usually is.
  void usual(std::string_view key, const double& value, double usual) {
    if (value != usual) (*this)(key, value);
  }
  void usual(std::string_view key, const float& value, float usual) {
    if (value != usual) (*this)(key, value);
  }
  void usual(std::string_view key, const Index& value, Index usual) {
    if (value != usual) line(key, fmt::format("{}", value));
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

/// @param require  (whether it is good, what is expected)
template <class Require>
void require_latent(const StackMap& stack, const Require& require) {
  const LatentMap& latent = stack.latent;
  require(stack.d_value >= 0 && latent.key_rank >= 0 && latent.query_rank >= 0 && latent.shared_channels >= 0,
          "'d_value' and the sizes of [latent] cannot be below 0");
  require((stack.self.fusion == Fusion::kv_by_head) == !latent.empty(),
          "[latent] 'key_rank' and fusion 'kv_by_head' belong together");
  if (latent.empty()) return;
  require(!latent.key.empty() && !latent.key_norm.empty() && latent.query.empty() == (latent.query_rank == 0) &&
              latent.query.empty() == latent.query_norm.empty(),
          "[latent] needs 'key' and 'key_norm', and with 'query_rank' also 'query' and 'query_norm'");
  require(stack.block.kv_heads == stack.block.heads && latent.shared_channels < stack.block.d_head,
          "[latent] needs as many 'kv_heads' as 'heads', and fewer 'shared_channels' than 'd_head'");
  require(stack.query_norm.empty() && stack.key_norm.empty(),
          "[latent] and norms of queries and keys exclude each other");
}

/// @param require  (whether it is good, what is expected)
template <class Require>
void require_experts(const StackMap& stack, const Require& require) {
  const ExpertsMap& experts = stack.experts;
  if (experts.count == 0) return;
  const RouterSpec& router = stack.block.router;
  constexpr Index most_experts = Index{1} << 16U;
  require(experts.count > 0 && experts.count <= most_experts, "[experts] 'count' must be 1 to 65536");
  require(router.groups > 0 && experts.count % router.groups == 0 && router.chosen_groups > 0 &&
              router.chosen_groups <= router.groups,
          "[experts] 'groups' must divide 'count', and 'chosen_groups' be 1 to 'groups'");
  require(router.chosen > 0 && router.chosen <= experts.count / router.groups * router.chosen_groups,
          "[experts] 'chosen' must be at least 1 and at most the experts of 'chosen_groups'");
  require(experts.d_feed_forward >= 0 && experts.d_shared >= 0, "[experts] widths cannot be below 0");
  require(!experts.router.empty() && !experts.widen.empty() && !experts.narrow.empty(),
          "[experts] needs 'router', 'widen' and 'narrow'");
  require((experts.d_shared > 0) == !experts.shared_widen.empty() &&
              experts.shared_widen.empty() == experts.shared_narrow.empty() &&
              (experts.d_shared > 0 || experts.shared_weight.empty()),
          "[experts] 'd_shared', 'shared_widen' and 'shared_narrow' belong together");
  for (std::size_t i = 0; i < experts.dense.size(); ++i)
    require(
        experts.dense[i] >= 0 && experts.dense[i] < stack.layers && (i == 0 || experts.dense[i] > experts.dense[i - 1]),
        "[experts] 'dense' must be layers of the stack in ascending order");
}

/// A stack with what most models have in the place of what was left out (zero): as many key heads as heads,
/// heads as wide as they divide the model, scores multiplied by 1/sqrt(d_head), rotary channels of a whole
/// head.
/// @throws FormatError if something cannot be left out, or does not fit the rest
StackMap completed(StackMap stack, const std::string& place) {
  const auto require = [&](bool good, const char* what) {
    if (!good) throw FormatError(fmt::format("{}: {}; docs/model-map.md explains the keys", place, what));
  };
  BlockSpec& block = stack.block;
  require(stack.layers > 0 && stack.vocabulary > 0 && stack.d_model > 0 && stack.d_feed_forward > 0 && block.heads > 0,
          "expected 'layers', 'vocabulary', 'd_model', 'd_feed_forward' and 'heads', each at least 1");
  if (block.kv_heads == 0) block.kv_heads = block.heads;
  require(block.heads % block.kv_heads == 0, "'kv_heads' must divide 'heads'");
  require(block.d_head > 0 || stack.d_model % block.heads == 0, "'heads' does not divide 'd_model'; give 'd_head'");
  if (block.d_head == 0) block.d_head = stack.d_model / block.heads;
  if (block.score_scale == 0) block.score_scale = 1.0 / std::sqrt(static_cast<double>(block.d_head));
  OthersMap& others = stack.others;
  for (PositionMap* positions : {&stack.positions, &others.positions}) {
    if (positions->kind != PositionKind::rotary) continue;
    RotaryOptions& rotary = positions->rotary;
    if (rotary.channels == 0) rotary.channels = block.d_head;
    require(rotary.channels % 2 == 0 && rotary.channels <= block.d_head,
            "'channels' of rotary positions must be even and at most 'd_head'");
    require(rotary.first >= 0 && rotary.first + rotary.channels <= block.d_head,
            "'first_channel' and 'channels' of rotary positions must lie within 'd_head'");
    require(rotary.base > 0 && rotary.factor > 0, "'base' and 'factor' of rotary positions must be above 0");
    const bool anywhere = rotary.scaling == RotaryScaling::none || rotary.scaling == RotaryScaling::linear ||
                          rotary.scaling == RotaryScaling::proportional;
    require(anywhere || rotary.trained > 0, "'trained' is needed for this scaling of rotary positions");
    require(rotary.share > 0 && rotary.share <= 1, "'share' of rotary positions must be above 0 and at most 1");
    const auto pairs = static_cast<std::size_t>(rotary.channels / 2);
    require(rotary.scaling != RotaryScaling::longrope ||
                (rotary.short_factors.size() == pairs && rotary.long_factors.size() == pairs),
            "'short_factors' and 'long_factors' of longrope need a number for each pair of 'channels'");
  }
  const bool both_turn = stack.positions.kind == PositionKind::rotary && others.positions.kind == PositionKind::rotary;
  require(others.positions.kind == PositionKind::none || others.positions.kind == PositionKind::rotary,
          "positions of 'others' are rotary or none");
  require(!both_turn || (others.positions.rotary.channels == stack.positions.rotary.channels &&
                         others.positions.rotary.first == stack.positions.rotary.first &&
                         others.positions.rotary.pairing == stack.positions.rotary.pairing),
          "rotary positions of 'others' must have the stack's 'channels' and 'pairing'");
  for (std::size_t i = 0; i < others.layers.size(); ++i)
    require(
        others.layers[i] >= 0 && others.layers[i] < stack.layers && (i == 0 || others.layers[i] > others.layers[i - 1]),
        "'layers' of 'others' must be layers of the stack in ascending order");
  require(block.window >= 0 && others.window >= 0 && block.chunk >= 0 && others.chunk >= 0 && block.soft_cap >= 0 &&
              stack.d_embedding >= 0,
          "'window', 'chunk', 'soft_cap' and 'd_embedding' cannot be below 0");
  require(!stack.unit_head_norm || (stack.query_norm.empty() && stack.key_norm.empty()),
          "'unit_head_norm' and norms of queries and keys exclude each other");
  require((stack.d_embedding > 0) == !stack.embedding_projection.empty(),
          "'d_embedding' and 'embedding_projection' belong together");
  const bool compared = stack.positions.kind == PositionKind::disentangled;
  const DisentangledMap& disentangled = stack.positions.disentangled;
  require(compared == (!stack.position_key.empty() || !stack.position_query.empty()),
          "disentangled positions and 'position_key' or 'position_query' belong together");
  require(!compared || !disentangled.vectors.empty(), "disentangled positions need 'vectors'");
  require(!compared || DisentangledTerm::allows(disentangled.rows),
          "'buckets' of disentangled positions are 0 or at least 2, and 'farthest' at least 1, more than half of them");
  require(!stack.positions.has_table() || stack.positions.rows > stack.positions.first_row,
          "a position table needs more 'rows' than 'first_row'");
  require_latent(stack, require);
  require_experts(stack, require);
  const bool only_experts = stack.experts.count > 0 && stack.experts.dense.empty();
  require(!stack.words.empty() && !stack.self.query.empty() && !stack.self.key.empty() && !stack.self.value.empty() &&
              !stack.self.output.empty() && (only_experts || (!stack.widen.empty() && !stack.narrow.empty())),
          "[tensors] needs 'words', 'query', 'key', 'value', 'output', 'widen' and 'narrow'");
  return stack;
}

/// Reads one stack, and its rotary positions from config.json where the map says how.
StackMap stack_of(MapReader& keys, std::string_view key, const MapExpressions& expressions) {
  StackMap stack;
  stack.block.score_scale = 0;
  keys.table(key, [&](MapReader& inner) { visit_stack(inner, stack); });
  if (stack.others.layers.empty()) stack.others = {};
  BlockSpec& block = stack.block;
  if (block.d_head == 0 && block.heads > 0 && stack.d_model % block.heads == 0)
    block.d_head = stack.d_model / block.heads;
  for (PositionMap* positions : {&stack.positions, &stack.others.positions})
    if (const auto rope = std::exchange(positions->rope, std::nullopt); rope && block.d_head > 0) {
      const RotaryOptions of_map = positions->rotary;  // which channels turn together config.json does not say
      positions->rotary = rotary_options(expressions.config(), block.d_head, *rope);
      positions->rotary.first = of_map.first;
      positions->rotary.pairing = of_map.pairing;
    }
  return completed(std::move(stack), fmt::format("{}: [{}]", keys.place(), key));
}

/// The map that a file's tables describe.
ModelMap map_of(const toml::table& file, const ModelFacts& facts, const std::string& place) {
  const ResolvedMap resolved = resolved_map(file, facts, place);
  const MapExpressions expressions(facts, resolved.names, place);
  ModelMap map;
  map.family = "model of a map";
  MapReader keys(resolved.table, place, expressions);
  keys("family", map.family);
  keys("longest", map.longest);
  keys("longest_target", map.longest_target);
  if (!keys.has("stack")) keys.fail("stack", "a table: what the model is made of");
  const bool by_config = resolved.table["stack"]["positions"]["rope"].is_table();
  map.stack = stack_of(keys, "stack", expressions);
  if (keys.has("decoder")) {
    map.decoder = stack_of(keys, "decoder", expressions);
    if (map.decoder->cross.empty())
      throw FormatError(fmt::format("{}: [decoder]: expected 'cross_query' and the like: it reads an encoder", place));
  }
  keys.table("prediction", [&](MapReader& inner) { visit_prediction(inner, map.prediction); });
  // A rotation that follows the length of a text has no end.
  if (by_config && map.stack.positions.rotary.scaling == RotaryScaling::dynamic) map.longest = 0;
  if (map.stack.positions.has_table() && map.longest == 0)
    map.longest = map.stack.positions.rows - map.stack.positions.first_row;
  if (map.stack.positions.kind == PositionKind::sinusoids && map.longest == 0)
    keys.fail("longest", "the longest document in tokens: sinusoids have no end of their own");
  keys("ignored", map.ignored);
  keys.refuse_others();
  return map;
}

}  // namespace

ModelMap model_map_of(const std::filesystem::path& file, const ModelFacts& facts) {
  ModelMap map = map_of(toml_of_file(file, "a model map"), facts, file.string());
  map.reason = fmt::format("{} says so", file.filename().string());
  return map;
}

ModelMap model_map_file(const std::filesystem::path& file) {
  const ModelFacts none{[&]() -> const ModelConfig& {
                          throw FormatError(fmt::format(
                              "{}: asks for a setting of config.json, but there is no model beside it", file.string()));
                        },
                        [](const std::string&) { return false; }};
  return model_map_of(file, none);
}

std::vector<std::string> known_families() {
  std::vector<std::string> names;
  for (const FamilyFile& file : family_files()) names.emplace_back(file.family);
  return names;
}

namespace {

/// A family that no map describes, and why.
struct RefusedFamily {
  std::string_view name, why;
  bool watched = true;  ///< whether headwave.watch follows its layers
};
constexpr std::string_view delta_nets = "most of its layers are gated delta nets, which have no attention weights";
constexpr RefusedFamily refused_families[]{
    // NOLINT(modernize-avoid-c-arrays): its length is its own
    {"gemma3n_text", "its layers hold several streams of states, and some read the keys of others"},
    {"gemma4_text", "heads of its global layers are wider than those of its local ones"},
    {"deepseek_v4",
     "its layers attend to compressed blocks of keys beside a window, and hold several streams of states", false},
    {"muse_glimmer_text", "its word embeddings are normalised, and its heads have gates of their own"},
    {"mllama_text_model", "some of its layers look at images alone"},
    {"vit", "it reads images, and headwave reads texts"},
    {"deit", "it reads images, and headwave reads texts"},
    {"whisper", "it reads sound, and headwave reads texts"},
    {"qwen3_next", delta_nets},
    {"qwen3_5_text", delta_nets},
    {"qwen3_5_moe_text", delta_nets},
    {"xlnet", "it compares keys with two streams of queries, and each with positions of its own"},
    {"mamba", "it has no attention", false},
    {"mamba2", "it has no attention", false},
    {"falcon_mamba", "it has no attention", false},
    {"rwkv", "it has no attention", false}};

/// Refuses a family whose reason is known.
void refuse_by_name(const ModelConfig& config, const std::string& family) {
  for (const auto& [name, why, watched] : refused_families) {
    if (family != name && family + "_text" != name) continue;
    config.fail(fmt::format("model type '{}' cannot be computed here: {}{}", family, why,
                            watched ? "; watch it in Python: headwave.watch (docs/profiles.md)" : ""));
  }
}

/// Refuses quantised weights other than MXFP4.
void refuse_quantised(const ModelConfig& config) {
  if (!config.has("quantization_config")) return;
  const ModelConfig quantisation = config.object("quantization_config");
  (void)quantisation.has("modules_to_not_convert");  // told by which tensors there are
  const std::string method = quantisation.text_or("quant_method", "a method that has no name");
  if (method != "mxfp4")
    config.fail(
        fmt::format("'quantization_config' says that weights are quantised by '{}', which is not read here; give a "
                    "checkpoint of floating-point weights, or of mxfp4",
                    printable(method, 60)));
}

}  // namespace

ModelMap family_map(const ModelConfig& config, const HasTensor& has) {
  const bool typed = config.has("model_type");
  const std::string called = typed ? config.text_or("model_type", "") : config.architecture();
  if (called.empty()) config.fail("neither 'model_type' nor 'architectures' says which kind of model this is");
  const std::string family = typed ? called : family_of_class(called);
  const std::vector<std::string> known = known_families();
  const auto is_known = [&](const std::string& name) { return std::ranges::find(known, name) != known.end(); };
  // Of a model that reads images or sounds beside text: its text part, where that is of a known family.
  constexpr const char* text_part = "text_config";
  if (!is_known(family) && config.has(text_part)) {
    const ModelConfig text = config.object(text_part);
    refuse_by_name(text, text.text_or("model_type", ""));
    if (is_known(text.text_or("model_type", ""))) {
      refuse_quantised(config);
      config.leave_all_but(text_part);
      ModelMap map = family_map(text, has);
      // transformers asks the whole for this, not its text part.
      constexpr const char* tied = "tie_word_embeddings";
      if (config.has(tied) && config.flag_or(tied, false) != (map.prediction.words.weight == map.stack.words)) {
        if (!config.flag_or(tied, false))
          config.fail(
              fmt::format("'{}' is false, but the text part's words predict, too; expected true in both, or "
                          "false in text_config",
                          tied));
        map.prediction.words = {map.stack.words, ""};
      }
      map.reason = fmt::format("config.json says that the text part of a '{}' has model_type '{}'", family, map.family);
      return map;
    }
  }
  refuse_by_name(config, family);
  if (!is_known(family))
    throw FormatError(fmt::format("{}: model type '{}' is not known; headwave reads {}", config.place(),
                                  printable(called, 60), fmt::join(known, ", ")),
                      give("map", "FILE.toml", "to say what its tensors are"));
  refuse_quantised(config);
  const toml::table file = family_file(family, config.place());
  const ModelFacts facts{[&]() -> const ModelConfig& { return config; }, has};
  ModelMap map = map_of(file, facts, config.place());
  ask_for_all(file, config);
  map.family = family;
  map.reason = fmt::format("config.json says {} '{}'", typed ? "model_type" : "architectures", family);
  return map;
}

std::string model_map_text(const ModelMap& map) {
  ModelMap copy = map;  // the visitors take what they could also fill in
  MapWriter keys("");
  keys("family", copy.family);
  keys("longest", copy.longest);
  keys("longest_target", copy.longest_target);
  keys("ignored", copy.ignored);
  keys.table("stack", [&](MapWriter& inner) { visit_stack(inner, copy.stack); });
  if (copy.decoder) keys.table("decoder", [&](MapWriter& inner) { visit_stack(inner, *copy.decoder); });
  if (!copy.prediction.words.empty())
    keys.table("prediction", [&](MapWriter& inner) { visit_prediction(inner, copy.prediction); });
  return fmt::format("# {}\n{}", map.reason, keys.text());
}

namespace {

/// Yarn's factor on queries and keys: as given, or from the two mscales, or 0.1 ln s + 1.
/// Source: Peng et al. 2023, equation 22, with DeepSeek's mscale settings.
double yarn_attention_factor(const ModelConfig& scaling, double factor) {
  if (scaling.has("attention_factor")) return scaling.positive("attention_factor");
  const auto gain = [&](double mscale) { return factor <= 1 ? 1.0 : 0.1 * mscale * std::log(factor) + 1.0; };
  if (scaling.has("mscale") && scaling.has("mscale_all_dim"))
    return gain(scaling.positive("mscale")) / gain(scaling.positive("mscale_all_dim"));
  return gain(1.0);
}

/// Before transformers 4.45 it was called "type".
std::string rope_type(const ModelConfig& scaling) {
  return scaling.text_or("rope_type", scaling.text_or("type", ""));
}

/// Which texts are long is said beside the scaling or inside.
double trained_length(const ModelConfig& scaling, const ModelConfig& config) {
  constexpr const char* original = "original_max_position_embeddings";
  if (scaling.has(original) && config.has(original) && scaling.size(original) != config.size(original))
    config.fail(fmt::format("'{}' is {} here and {} in the scaling; expected one number", original,
                            config.size(original), scaling.size(original)));
  if (scaling.has(original)) return static_cast<double>(scaling.size(original));
  return static_cast<double>(config.size(config.has(original) ? original : "max_position_embeddings"));
}

/// A factor for each pair of channels. Queries and keys are multiplied by sqrt(1 + ln s / ln M), s times longer
/// than M, where nothing else is said.
void set_longrope(RotaryOptions& rotary, const ModelConfig& scaling, const ModelConfig& config) {
  rotary.scaling = RotaryScaling::longrope;
  rotary.short_factors = scaling.numbers("short_factor");
  rotary.long_factors = scaling.numbers("long_factor");
  for (const auto* factors : {&rotary.short_factors, &rotary.long_factors}) {
    if (std::ssize(*factors) != rotary.channels / 2)
      scaling.fail(
          fmt::format("{} factors of longrope, but {} pairs of channels turn", factors->size(), rotary.channels / 2));
    if (std::ranges::any_of(*factors, [](double factor) { return factor <= 0; }))
      scaling.fail("a factor of longrope is not above 0");
  }
  rotary.trained = trained_length(scaling, config);
  const double longer = scaling.has("factor")
                            ? scaling.positive("factor")
                            : static_cast<double>(config.size("max_position_embeddings")) / rotary.trained;
  const double usual = longer <= 1 ? 1.0 : std::sqrt(1 + std::log(longer) / std::log(rotary.trained));
  rotary.attention_factor = scaling.positive_or("attention_factor", usual);
}

/// A share of all pairs turns: `channels` are the head's, not that share.
void set_proportional(RotaryOptions& rotary, const ModelConfig& scaling, const ModelConfig& config) {
  constexpr const char* key = "partial_rotary_factor";
  rotary.scaling = RotaryScaling::proportional;
  rotary.factor = scaling.positive_or("factor", 1);
  rotary.share = scaling.has(key) ? scaling.positive(key) : config.positive_or(key, 1);
}

void set_scaling(RotaryOptions& rotary, const ModelConfig& scaling, const ModelConfig& config) {
  const std::string type = rope_type(scaling);
  if (type == "default" || (type.empty() && !scaling.has("factor"))) return;
  if (type == "linear")
    rotary.scaling = RotaryScaling::linear;
  else if (type == "dynamic")
    rotary.scaling = RotaryScaling::dynamic;
  else if (type == "llama3")
    rotary.scaling = RotaryScaling::llama3;
  else if (type == "yarn")
    rotary.scaling = RotaryScaling::yarn;
  else if (type == "longrope" || type == "su")  // what the first of its models called it
    return set_longrope(rotary, scaling, config);
  else if (type == "proportional")
    return set_proportional(rotary, scaling, config);
  else
    scaling.fail(fmt::format(
        "rope type '{}' is not known; expected default, linear, dynamic, llama3, yarn, longrope or proportional",
        printable(type, 60)));
  rotary.factor = scaling.positive("factor");
  if (type == "linear") return;
  if (type == "dynamic") {
    rotary.trained = static_cast<double>(config.size("max_position_embeddings"));
    return;
  }
  rotary.trained = trained_length(scaling, config);
  if (type == "llama3") {
    rotary.low = scaling.positive("low_freq_factor");
    rotary.high = scaling.positive("high_freq_factor");
    if (rotary.high < rotary.low) scaling.fail("'high_freq_factor' is below 'low_freq_factor'");
    return;
  }
  rotary.fast = scaling.positive_or("beta_fast", 32);
  rotary.slow = scaling.positive_or("beta_slow", 1);
  rotary.whole_channels = scaling.flag_or("truncate", true);
  rotary.attention_factor = yarn_attention_factor(scaling, rotary.factor);
}

/// How many channels turn.
Index turning_channels(const ModelConfig& config, const ModelConfig* parameters, Index d_head, const RopeKeys& keys) {
  constexpr const char* key = "partial_rotary_factor";
  double share = config.positive_or(keys.share_key, keys.share);
  if (config.has(key)) share = config.positive(key);
  if (parameters != nullptr && parameters->has(key)) share = parameters->positive(key);
  // Of proportional positions it is a share of the pairs, each of which stands for its own frequency.
  if (parameters != nullptr && rope_type(*parameters) == "proportional" && share <= 1) share = 1;
  if (share > 1 || (share != 1 && !keys.partial))
    throw FormatError(fmt::format("{}: '{}' is {}, which is not known here", config.place(), key, share),
                      give("map", "FILE.toml", "to say how many channels turn"));
  const auto channels = static_cast<Index>(static_cast<double>(d_head) * share);
  if (channels < 2 || channels % 2 != 0)
    config.fail(
        fmt::format("{} channels of heads of width {} cannot turn in pairs; rotary positions need an even number",
                    channels, d_head));
  return channels;
}

}  // namespace

RotaryOptions rotary_options(const ModelConfig& config, Index d_head, const RopeKeys& keys) {
  if (keys.width > 0) d_head = keys.width;
  RotaryOptions rotary;
  if (config.has("rope_parameters") && config.has("rope_scaling"))
    config.fail("both 'rope_parameters' and 'rope_scaling' are there; expected one of them, since they may differ");
  rotary.base = config.positive_or(keys.base_key, keys.base);
  if (!config.has("rope_parameters")) {
    const bool scaled = config.has("rope_scaling") && keys.scaled;
    const std::optional<ModelConfig> scaling = scaled ? std::optional(config.object("rope_scaling")) : std::nullopt;
    rotary.channels = turning_channels(config, scaling ? &*scaling : nullptr, d_head, keys);
    if (scaling) set_scaling(rotary, *scaling, config);
    return rotary;
  }
  const ModelConfig all = config.object("rope_parameters");
  // Layers differ, and each kind has a group of its own; or one group is of all, and only some are scaled.
  const bool grouped = !keys.group.empty() && all.has(keys.group);
  const bool one_for_all = !keys.group.empty() && !grouped;
  if (one_for_all && !all.has("rope_type") && !all.has("rope_theta")) {
    rotary.channels = turning_channels(config, nullptr, d_head, keys);
    return rotary;
  }
  const ModelConfig parameters = grouped ? all.object(keys.group) : all;
  rotary.channels = turning_channels(config, &parameters, d_head, keys);
  if (!one_for_all || keys.base_key == "rope_theta") rotary.base = parameters.positive_or("rope_theta", rotary.base);
  if (!one_for_all || keys.scaled) set_scaling(rotary, parameters, config);
  return rotary;
}

}  // namespace headwave
