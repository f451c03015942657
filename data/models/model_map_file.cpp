#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "../../core/errors/error.h"
#include "../files/printable.h"
#include "families.h"
#include "resolved_map.h"

namespace headwave {

namespace {

/// Fusions in a map, in the order of Fusion.
constexpr auto fusion_words = {"none", "qkv", "kv", "qkv_by_head", "kv_by_head"};

/// Activations in a map, in the order of Activation.
constexpr auto activation_words = {"gelu", "gelu_tanh", "relu", "silu"};

/// Activations in config.json, and their names in a map.
constexpr std::pair<std::string_view, std::string_view> config_activations[]{
    // NOLINT(modernize-avoid-c-arrays): its length is its own
    {"gelu", "gelu"},           {"gelu_new", "gelu_tanh"}, {"gelu_pytorch_tanh", "gelu_tanh"},
    {"gelu_fast", "gelu_tanh"}, {"relu", "relu"},          {"silu", "silu"},
    {"swish", "silu"}};

/// Reads one table of a map file, key by key; refuse_others() then refuses keys that nobody read. A number or
/// switch may be an expression. A value stays unchanged if its key is missing.
class MapReader {
 public:
  /// @param place  what messages begin with: the file and the table
  MapReader(const toml::table& table, std::string place, const MapExpressions& expressions)
      : table_(table), place_(std::move(place)), expressions_(expressions) {}

  [[nodiscard]] const std::string& place() const { return place_; }
  [[nodiscard]] bool has(std::string_view key) const { return table_.contains(key); }
  /// @throws FormatError always: with the place, the key and what it should be
  [[noreturn]] void fail(std::string_view key, const std::string& expected) const {
    fail_map_key(place_, key, expected);
  }
  /// @throws FormatError if a key was not read: it is misspelt, or would silently be ignored
  void refuse_others() const {
    for (const auto& [key, node] : table_)
      if (!seen_.contains(std::string(key.str())))
        throw FormatError(fmt::format("{}: '{}' is not a known key here; docs/model-map.md explains the keys", place_,
                                      printable(std::string(key.str()), 60)));
  }

  void operator()(std::string_view key, Index& value) {
    read(key, value, fmt::format("a whole number from 0 to {}", largest_size), &MapExpressions::whole,
         [](const toml::node& node) -> std::optional<Index> {
           const std::int64_t number = node.is_integer() ? node.as_integer()->get() : -1;
           return number >= 0 && number <= largest_size ? std::optional<Index>(number) : std::nullopt;
         });
  }
  void operator()(std::string_view key, double& value) {
    read(key, value, "a number that is not below 0", &MapExpressions::positive,
         [](const toml::node& node) -> std::optional<double> {
           const double number = node.is_number() ? node.value_or(-1.0) : -1;
           return number >= 0 && std::isfinite(number) ? std::optional(number) : std::nullopt;
         });
  }
  void operator()(std::string_view key, float& value) {
    auto number = static_cast<double>(value);
    (*this)(key, number);
    value = static_cast<float>(number);
  }
  void operator()(std::string_view key, bool& value) {
    read(key, value, "true or false", &MapExpressions::holds,
         [](const toml::node& node) { return node.is_boolean() ? node.value<bool>() : std::nullopt; });
  }
  void operator()(std::string_view key, std::string& value) {
    const toml::node* node = look(key);
    if (node == nullptr) return;
    if (!node->is_string()) fail(key, "a name, as a string");
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
    if (!node->is_array()) fail(key, "a list of strings");
    for (const toml::node& entry : *node->as_array()) {
      const auto* name = entry.as_string();
      if (name == nullptr) fail(key, "a list of strings");
      value.push_back(name->get());
    }
  }
  /// The layers in which an expression holds. Of several, those whose keys config.json has must agree.
  void layers(std::string_view key, std::vector<Index>& value, Index count) {
    std::vector<std::string> rules(1);
    if (has(key) && table_.get(key)->is_string())
      (*this)(key, rules.front());
    else
      (*this)(key, rules = {});
    value.clear();
    for (Index layer = 0; layer < std::min(count, most_layers) && !rules.empty(); ++layer) {
      std::optional<bool> holds;
      for (const std::string& rule : rules) {
        const std::optional<bool> said = expressions_.holds_in_layer(rule, layer);
        if (said && holds && *said != *holds)
          expressions_.config().fail(fmt::format("\"{}\" and \"{}\" differ in layer {}; expected the same layers",
                                                 rules.front(), rule, layer));
        if (said) holds = said;
      }
      if (!holds)
        fail(key, fmt::format("an expression with a value for layer {}; config.json lacks a key of it", layer));
      if (*holds) value.push_back(layer);
    }
  }
  /// @param words  names of the enumeration's values, in order
  template <class Enum>
  void operator()(std::string_view key, Enum& value, std::initializer_list<const char*> words) {
    const toml::node* node = look(key);
    if (node == nullptr) return;
    const std::optional<std::string> found =
        node->is_table() ? said_in_config(key, *node->as_table()) : node->value<std::string>();
    const auto* word = std::ranges::find_if(words, [&](const char* one) { return found == one; });
    if (word == words.end()) fail(key, fmt::format("one of {}", fmt::join(words, ", ")));
    value = static_cast<Enum>(word - words.begin());
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

 private:
  /// The value of a key, which then counts as read; null if missing.
  const toml::node* look(std::string_view key) {
    seen_.insert(std::string(key));
    return table_.get(key);
  }

  /// Reads a value that may be an expression.
  template <class Value, class Literal>
  void read(std::string_view key, Value& value, const std::string& expected,
            Value (MapExpressions::*evaluated)(const std::string&) const, const Literal& literal) {
    const toml::node* node = look(key);
    if (node == nullptr) return;
    const std::optional<Value> written = literal(*node);
    if (!written && !node->is_string()) fail(key, expected);
    value = written ? *written : (expressions_.*evaluated)(node->as_string()->get());
  }

  /// Splits "NAME.{weight,bias}" into two names.
  static void split_braces(TensorNames& names) {
    const auto comma = names.weight.find(',');
    if (comma == std::string::npos || !names.bias.empty()) return;
    const auto open = names.weight.rfind('{', comma), close = names.weight.find('}', comma);
    if (open == std::string::npos || close == std::string::npos) return;
    const std::string before = names.weight.substr(0, open), after = names.weight.substr(close + 1);
    names.bias = before + names.weight.substr(comma + 1, close - comma - 1) + after;
    names.weight = before + names.weight.substr(open + 1, comma - open - 1) + after;
  }

  /// Translates a word of config.json: { key = "hidden_act", else = "gelu", words = { ... } }.
  std::string said_in_config(std::string_view key, const toml::table& rule) {
    const auto config_key = rule.get("key") != nullptr ? rule.get("key")->value<std::string>() : std::nullopt;
    if (!config_key) fail(key, "a word, or { key = \"KEY\", else = \"WORD\" }");
    const ModelConfig& config = expressions_.config();
    const toml::node* otherwise = rule.get("else");
    const std::string said = config.text(*config_key, otherwise != nullptr ? otherwise->value_or(std::string()) : "");
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

  const toml::table& table_;
  std::string place_;
  const MapExpressions& expressions_;
  std::set<std::string> seen_;
};

// Every key of a map file.

void read_rotary(MapReader& keys, RotaryOptions& rotary) {
  keys("channels", rotary.channels);
  keys("first_channel", rotary.first);
  keys("base", rotary.base);
  keys("pairing", rotary.pairing, {"halves", "neighbours"});
  keys("scaling", rotary.scaling, {"none", "linear", "dynamic"});
  keys("factor", rotary.factor);
  keys("trained", rotary.trained);
}

void read_rope(MapReader& keys, RopeKeys& rope) {
  keys("base", rope.base);
  keys("base_key", rope.base_key);
  keys("group", rope.group);
  keys("scaled", rope.scaled);
  keys("partial", rope.partial);
  keys("share_key", rope.share_key);
  keys("share", rope.share);
  keys("width", rope.width);
}

void read_positions(MapReader& keys, PositionMap& positions) {
  keys("kind", positions.kind, {"none", "table", "sinusoids", "rotary", "linear_bias", "buckets", "disentangled"});
  switch (positions.kind) {
    case PositionKind::table:
      keys("table", positions.table);
      keys("rows", positions.rows);
      keys("first_row", positions.first_row);
      keys("biases", positions.biases);
      if (positions.biases.empty()) break;
      keys("buckets", positions.buckets);
      keys("farthest", positions.farthest);
      break;
    case PositionKind::sinusoids:
      keys("layout", positions.sinusoids.layout, {"interleaved", "concatenated"});
      keys("base", positions.sinusoids.base);
      keys("first", positions.sinusoids.first);
      keys("last_is_base", positions.sinusoids.last_is_base);
      break;
    case PositionKind::rotary:
      read_rotary(keys, positions.rotary);
      keys.table("rope", [&](MapReader& inner) { read_rope(inner, positions.rope.emplace()); });
      break;
    case PositionKind::buckets:
      keys("table", positions.table);
      keys("rows", positions.rows);
      keys("farthest", positions.farthest);
      break;
    case PositionKind::disentangled:
      keys("vectors", positions.disentangled.vectors);
      keys("norm", positions.disentangled.norm);
      keys("buckets", positions.disentangled.rows.buckets);
      keys("farthest", positions.disentangled.rows.farthest);
      keys("table", positions.table);
      keys("rows", positions.rows);
      break;
    case PositionKind::none:
    case PositionKind::linear_bias:
      break;
  }
}

void read_tensors(MapReader& keys, StackMap& stack) {
  keys("words", stack.words);
  keys("token_types", stack.token_types);
  keys("embedding_norm", stack.embedding_norm);
  keys("self_norm", stack.self_norm);
  keys("embedding_projection", stack.embedding_projection);
  keys("query", stack.self.query);
  keys("key", stack.self.key);
  keys("value", stack.self.value);
  keys("output", stack.self.output);
  keys("fusion", stack.self.fusion, fusion_words);
  keys("query_norm", stack.query_norm);
  keys("key_norm", stack.key_norm);
  keys("sinks", stack.sinks);
  keys("position_key", stack.position_key);
  keys("position_query", stack.position_query);
  keys("self_added_norm", stack.self_added_norm);
  keys("cross_norm", stack.cross_norm);
  keys("cross_query", stack.cross.query);
  keys("cross_key", stack.cross.key);
  keys("cross_value", stack.cross.value);
  keys("cross_output", stack.cross.output);
  keys("cross_fusion", stack.cross.fusion, fusion_words);
  keys("feed_forward_norm", stack.feed_forward_norm);
  keys("widen", stack.widen);
  keys("gate", stack.gate);
  keys("narrow", stack.narrow);
  keys("feed_forward_added_norm", stack.feed_forward_added_norm);
  keys("final_norm", stack.final_norm);
}

void read_latent(MapReader& keys, LatentMap& latent) {
  keys("key_rank", latent.key_rank);
  if (latent.empty()) return;
  keys("query_rank", latent.query_rank);
  keys("shared_channels", latent.shared_channels);
  keys("norm_eps", latent.norm_eps);
  keys("query", latent.query);
  keys("query_norm", latent.query_norm);
  keys("key", latent.key);
  keys("key_norm", latent.key_norm);
}

/// @param layers  number of the stack's layers
void read_experts(MapReader& keys, ExpertsMap& experts, RouterSpec& router, Index layers) {
  keys("count", experts.count);
  if (experts.count == 0) return;
  keys("chosen", router.chosen);
  keys("score", router.score, {"softmax", "softmax_of_chosen", "sigmoid"});
  keys("normalised", router.normalised);
  keys("weighs_input", router.weighs_input);
  keys("scale", router.scale);
  keys("groups", router.groups);
  keys("chosen_groups", router.chosen_groups);
  keys("worth", router.worth, {"best", "best_two"});
  keys("d_feed_forward", experts.d_feed_forward);
  keys("d_shared", experts.d_shared);
  keys.layers("dense", experts.dense, layers);
  keys("in_out", experts.in_out);
  keys("alternating", experts.alternating);
  keys("router", experts.router);
  keys("correction", experts.correction);
  keys("gate", experts.gate);
  keys("widen", experts.widen);
  keys("narrow", experts.narrow);
  keys("shared_gate", experts.shared_gate);
  keys("shared_widen", experts.shared_widen);
  keys("shared_narrow", experts.shared_narrow);
  keys("shared_weight", experts.shared_weight);
}

/// @param count  number of the stack's layers
void read_others(MapReader& keys, OthersMap& others, Index count) {
  keys.layers("layers", others.layers, count);
  keys("window", others.window);
  keys("chunk", others.chunk);
  keys("unit_head_norm", others.unit_head_norm);
  keys("temperature", others.temperature.strength);
  keys("temperature_step", others.temperature.step);
  keys.table("positions", [&](MapReader& inner) { read_positions(inner, others.positions); });
}

void read_stack(MapReader& keys, StackMap& stack) {
  keys("layers", stack.layers);
  keys("vocabulary", stack.vocabulary);
  keys("d_model", stack.d_model);
  keys("d_feed_forward", stack.d_feed_forward);
  keys("heads", stack.block.heads);
  keys("kv_heads", stack.block.kv_heads);
  keys("d_head", stack.block.d_head);
  keys("d_value", stack.d_value);
  keys("score_scale", stack.block.score_scale);
  keys("soft_cap", stack.block.soft_cap);
  keys("causal", stack.block.causal);
  keys("window", stack.block.window);
  keys("chunk", stack.block.chunk);
  keys("norm", stack.norm, {"layer", "rms"});
  keys("norm_eps", stack.norm_eps);
  keys("norm_offset", stack.norm_offset);
  keys("norm_place", stack.block.norm_place, {"post", "pre"});
  keys("self_norm_from", stack.self_norm_from);
  keys("head_norm", stack.head_norm, {"shared", "own", "whole"});
  keys("unit_head_norm", stack.unit_head_norm);
  keys("residual_scale", stack.block.residual_scale);
  keys("parallel", stack.block.parallel);
  keys("activation", stack.block.activation, activation_words);
  keys("gate_limit", stack.block.gate_clip.limit);
  keys("gate_slope", stack.block.gate_clip.slope);
  keys("in_out", stack.in_out);
  keys("word_scale", stack.word_scale);
  keys("refused_word", stack.refused_word);
  keys("d_embedding", stack.d_embedding);
  keys("token_type_count", stack.token_type_count);
  keys.table("positions", [&](MapReader& inner) { read_positions(inner, stack.positions); });
  keys.table("others", [&](MapReader& inner) { read_others(inner, stack.others, stack.layers); });
  keys.table("latent", [&](MapReader& inner) { read_latent(inner, stack.latent); });
  keys.table("experts",
             [&](MapReader& inner) { read_experts(inner, stack.experts, stack.block.router, stack.layers); });
  keys.table("tensors", [&](MapReader& inner) { read_tensors(inner, stack); });
}

void read_prediction(MapReader& keys, PredictionMap& prediction) {
  keys("words", prediction.words);
  keys("transform", prediction.transform);
  keys("transform_norm", prediction.transform_norm);
  keys("activation", prediction.activation, activation_words);
  keys("state_scale", prediction.state_scale);
  keys("soft_cap", prediction.soft_cap);
}

/// @param require  called with (condition, what is expected)
template <class Require>
void require_latent(const StackMap& stack, const Require& require) {
  const LatentMap& latent = stack.latent;
  require((stack.self.fusion == Fusion::kv_by_head) == !latent.empty(),
          "[latent] 'key_rank' and fusion 'kv_by_head' belong together; give both or neither");
  if (latent.empty()) return;
  require(!latent.key.empty() && !latent.key_norm.empty() && latent.query.empty() == (latent.query_rank == 0) &&
              latent.query.empty() == latent.query_norm.empty(),
          "[latent] needs 'key' and 'key_norm', and with 'query_rank' also 'query' and 'query_norm'");
  require(stack.block.kv_heads == stack.block.heads && latent.shared_channels < stack.block.d_head,
          "[latent] needs as many 'kv_heads' as 'heads', and fewer 'shared_channels' than 'd_head'");
  require(stack.query_norm.empty() && stack.key_norm.empty(),
          "[latent] and norms of queries and keys exclude each other");
}

/// @param require  called with (condition, what is expected)
template <class Require>
void require_experts(const StackMap& stack, const Require& require) {
  const ExpertsMap& experts = stack.experts;
  if (experts.count == 0) return;
  const RouterSpec& router = stack.block.router;
  constexpr Index most_experts = Index{1} << 16U;
  require(experts.count <= most_experts, "[experts] 'count' must be at most 65536");
  require(router.groups > 0 && experts.count % router.groups == 0 && router.chosen_groups > 0 &&
              router.chosen_groups <= router.groups,
          "[experts] 'groups' must divide 'count', and 'chosen_groups' be 1 to 'groups'");
  require(router.chosen > 0 && router.chosen <= experts.count / router.groups * router.chosen_groups,
          "[experts] 'chosen' must be at least 1 and at most the experts of 'chosen_groups'");
  require(!experts.router.empty() && !experts.widen.empty() && !experts.narrow.empty(),
          "[experts] needs 'router', 'widen' and 'narrow'");
  require((experts.d_shared > 0) == !experts.shared_widen.empty() &&
              experts.shared_widen.empty() == experts.shared_narrow.empty() &&
              (experts.d_shared > 0 || experts.shared_weight.empty()),
          "[experts] 'd_shared', 'shared_widen' and 'shared_narrow' belong together; give all or none");
}

/// Fills in what a map left out (0): kv_heads = heads, d_head = d_model / heads, score_scale =
/// 1/sqrt(d_head), and rotary channels = d_head, or as in config.json if the map says so.
/// @throws FormatError if something is missing that has no default, or values do not fit together
StackMap completed(StackMap stack, const std::string& place, const MapExpressions& expressions) {
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
    if (const auto rope = std::exchange(positions->rope, std::nullopt)) {
      const RotaryOptions of_map = rotary;  // config.json does not say which channels turn together
      rotary = rotary_options(expressions.config(), block.d_head, *rope);
      rotary.first = of_map.first;
      rotary.pairing = of_map.pairing;
    }
    if (rotary.channels == 0) rotary.channels = block.d_head;
    require(rotary.channels % 2 == 0 && rotary.channels <= block.d_head,
            "'channels' of rotary positions must be even and at most 'd_head'");
    require(rotary.first >= 0 && rotary.first + rotary.channels <= block.d_head,
            "'first_channel' and 'channels' of rotary positions must lie within 'd_head'");
    require(rotary.base > 0 && rotary.factor > 0 && (rotary.scaling != RotaryScaling::dynamic || rotary.trained > 0),
            "'base', 'factor' and 'trained' of rotary positions must be above 0");
  }
  const bool both_turn = stack.positions.kind == PositionKind::rotary && others.positions.kind == PositionKind::rotary;
  require(!both_turn || (others.positions.rotary.channels == stack.positions.rotary.channels &&
                         others.positions.rotary.first == stack.positions.rotary.first &&
                         others.positions.rotary.pairing == stack.positions.rotary.pairing),
          "rotary positions of 'others' must have the stack's 'channels' and 'pairing'");
  require(!stack.unit_head_norm || (stack.query_norm.empty() && stack.key_norm.empty()),
          "'unit_head_norm' and norms of queries and keys exclude each other");
  require((stack.d_embedding > 0) == !stack.embedding_projection.empty(),
          "'d_embedding' and 'embedding_projection' belong together; give both or neither");
  require_latent(stack, require);
  const bool compared = stack.positions.kind == PositionKind::disentangled;
  const DisentangledMap& disentangled = stack.positions.disentangled;
  require(compared == (!stack.position_key.empty() || !stack.position_query.empty()),
          "disentangled positions and 'position_key' or 'position_query' belong together; give both or neither");
  require(!compared || !disentangled.vectors.empty(), "disentangled positions need 'vectors'");
  require(!compared || DisentangledTerm::allows(disentangled.rows),
          "'buckets' of disentangled positions must be 0 or at least 2; 'farthest' at least 1, and with "
          "buckets at least 'buckets' / 2 + 2");
  require(!stack.positions.has_table() || stack.positions.rows > stack.positions.first_row,
          "a position table needs more 'rows' than 'first_row'");
  require_experts(stack, require);
  const bool only_experts = stack.experts.count > 0 && stack.experts.dense.empty();
  require(!stack.words.empty() && !stack.self.query.empty() && !stack.self.key.empty() && !stack.self.value.empty() &&
              !stack.self.output.empty() && (only_experts || (!stack.widen.empty() && !stack.narrow.empty())),
          "[tensors] needs 'words', 'query', 'key', 'value', 'output', 'widen' and 'narrow'");
  return stack;
}

StackMap stack_of(MapReader& keys, std::string_view key, const MapExpressions& expressions) {
  StackMap stack;
  stack.block.score_scale = 0;
  keys.table(key, [&](MapReader& inner) { read_stack(inner, stack); });
  if (stack.others.layers.empty()) stack.others = {};
  return completed(std::move(stack), fmt::format("{}: [{}]", keys.place(), key), expressions);
}

}  // namespace

ModelMap model_map_of(const toml::table& file, const ModelFacts& facts, const std::string& place) {
  const ResolvedMap resolved = resolved_map(file, facts, place);
  const MapExpressions expressions(facts, resolved.names, place);
  ModelMap map;
  map.family = "model of a map";
  MapReader keys(resolved.table, place, expressions);
  keys("family", map.family);
  keys("longest", map.longest);
  if (!keys.has("stack")) keys.fail("stack", "a table that describes the model");
  const bool by_config = resolved.table["stack"]["positions"]["rope"].is_table();
  map.stack = stack_of(keys, "stack", expressions);
  if (keys.has("decoder")) {
    map.decoder = stack_of(keys, "decoder", expressions);
    if (map.decoder->cross.empty())
      throw FormatError(fmt::format(
          "{}: [decoder]: 'cross_query' is missing; expected it and the other tensors of cross-attention", place));
  }
  keys.table("prediction", [&](MapReader& inner) { read_prediction(inner, map.prediction); });
  // Dynamic scaling follows the length of a text, so there is no longest one.
  if (by_config && map.stack.positions.rotary.scaling == RotaryScaling::dynamic) map.longest = 0;
  if (map.stack.positions.has_table() && map.longest == 0)
    map.longest = map.stack.positions.rows - map.stack.positions.first_row;
  if (map.stack.positions.kind == PositionKind::sinusoids && map.longest == 0)
    keys.fail("longest", "the length of the longest document in tokens, since sinusoids have no limit");
  keys("ignored", map.ignored);
  keys.refuse_others();
  return map;
}

ModelMap model_map_of(const std::filesystem::path& file, const ModelFacts& facts) {
  ModelMap map = model_map_of(toml_of_file(file, "a model map"), facts, shown_path(file));
  map.reason = fmt::format("{} says so", file.filename().string());
  return map;
}

}  // namespace headwave
