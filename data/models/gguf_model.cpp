#include "gguf_model.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "../../core/errors/error.h"
#include "../arrays/quantised_blocks.h"
#include "../files/printable.h"
#include "map_expression.h"
#include "resolved_map.h"

namespace headwave {

namespace {

using nlohmann::json;

using GgufFiles = std::vector<std::shared_ptr<const GgufFile>>;

/// A metadata value as JSON.
/// @param one_of_equals  a list of equal numbers, one for each layer, is that number
json json_of(const GgufValue& value, bool one_of_equals) {
  return std::visit(
      [&]<class Value>(const Value& one) -> json {
        if constexpr (requires { typename Value::value_type; } && !std::is_same_v<Value, std::string>) {
          if constexpr (!std::is_same_v<Value, std::vector<std::string>>)
            if (one_of_equals && !one.empty() &&
                std::ranges::all_of(one, [&](auto entry) { return entry == one.front(); }))
              return one.front();
          return json(one);
        } else {
          return json(one);
        }
      },
      value);
}

/// Puts a value into nested objects, as a path says: "attention.head_count".
void put(json& into, std::string_view path, json value, const std::string& file, const std::string& key) {
  const std::size_t dot = path.find('.');
  const std::string name(path.substr(0, dot));
  json& there = into[name];
  const bool last = dot == std::string_view::npos;
  if (!there.is_null() && (last || !there.is_object()))
    throw FormatError(
        fmt::format("{}: the key '{}' and another stand for one thing; is the file damaged?", file, printable(key)));
  if (last)
    there = std::move(value);
  else
    put(there, path.substr(dot + 1), std::move(value), file, key);
}

/// The number of a layer in "blk.12.attn_q", and the name with "{layer}" in its place.
struct LayerName {
  std::string pattern, layer;
};
LayerName layer_name(const std::string& name) {
  constexpr std::string_view of_layer = "blk.";
  const std::size_t end = name.find('.', of_layer.size());
  if (!name.starts_with(of_layer) || end == std::string::npos) return {name, ""};
  return {"blk.{layer}" + name.substr(end), name.substr(of_layer.size(), end - of_layer.size())};
}

/// "blk.0.attn_q.weight" is "blk.0.attn_q" and ".weight".
std::pair<std::string, std::string> part_and_kind(const std::string& name) {
  for (const std::string_view kind : {".weight", ".bias"})
    if (name.ends_with(kind)) return {name.substr(0, name.size() - kind.size()), std::string(kind)};
  return {name, ""};
}

/// What a file's table of its architecture, and its keys, say.
class Translation {
 public:
  Translation(const GgufFiles& files, const std::string& architecture)
      : files_(files), file_(shown_path(files.front()->path())), architecture_(architecture) {
    for (const auto& file : files)
      for (const TensorInfo& tensor : file->header().tensors) tensors_.emplace(tensor.name, &tensor);
    facts_ = facts();
    config_.emplace(facts_, fmt::format("{}: {}", file_, printable(architecture, 60)));
    for (const char* key : {"block_count", "embedding_length", "attention.head_count"})
      if (!config_->has(key))
        throw FormatError(fmt::format("{}: the key '{}.{}' is missing; expected it of every model", file_,
                                      printable(architecture, 60), key));
    const std::string place = architecture + ".toml";
    resolved_ =
        resolved_map(based_file(gguf_architectures(), architecture, place, known_architectures()), model_facts_, place);
    expressions_.emplace(model_facts_, resolved_.names, place);
  }

  /// What config.json would say.
  json config() {
    json said = json::object();
    said["model_type"] = text(resolved_.table, "model_type");
    if (const toml::table* keys = resolved_.table.get_as<toml::table>("config"))
      for (const auto& [key, node] : *keys)
        if (const std::optional<double> number = value(node.value_or(std::string())))
          said[std::string(key.str())] = *number == std::floor(*number) && std::abs(*number) < 9e15
                                             ? json(static_cast<std::int64_t>(*number))
                                             : json(*number);
    set_pattern(said);
    set_rotation(said);
    set_specials(said);
    for (const std::string& key : config_->unread())
      if (key != "rows" && !key.starts_with("rows.") && !harmless_keys().contains(key))
        said[fmt::format("{}.{}", architecture_, key)] = "not known here";
    return said;
  }

  /// The file's tensors as the checkpoint's.
  std::vector<RenamedTensor> tensors() {
    const auto names = texts("tensors");
    const toml::table* changes = resolved_.table.get_as<toml::table>("changes");
    const std::set<std::string> ignored = list(changes, "ignored"), one_added = list(changes, "one_added"),
                                transposed = list(changes, "transposed");
    std::map<std::string, Index> paired;
    if (changes != nullptr)
      if (const toml::table* heads = changes->get_as<toml::table>("paired"))
        for (const auto& [name, number] : *heads)
          paired[std::string(name.str())] = expressions_->whole(number.value_or(std::string()));
    std::vector<RenamedTensor> renamed;
    for (const auto& file : files_)
      for (const TensorInfo& tensor : file->header().tensors) {
        const auto [part, kind] = part_and_kind(tensor.name);
        const auto [pattern, layer] = layer_name(part);
        if (ignored.contains(pattern) || tensor.name == factors_name) continue;
        const auto found = names.find(pattern);
        if ((found == names.end() || found->second.empty()) && !layer.empty())
          throw FormatError(
              fmt::format("{}: tensor '{}' is not known of a {}, and the numbers may depend on it; expected a model of "
                          "the usual build",
                          file_, printable(tensor.name), printable(architecture_, 60)));
        RenamedTensor one{tensor.name, file.get(), tensor, {}};
        if (found != names.end() && !found->second.empty()) {
          one.name = found->second;
          if (const auto mark = one.name.find("{layer}"); mark != std::string::npos) one.name.replace(mark, 7, layer);
          one.name += kind;
        }
        if (const auto heads = paired.find(pattern); heads != paired.end()) one.change.paired_heads = heads->second;
        if (one_added.contains(pattern)) one.change.added = -1;
        one.change.transposed = transposed.contains(pattern) && kind == ".weight";
        renamed.push_back(std::move(one));
      }
    return renamed;
  }

 private:
  static constexpr const char* factors_name = "rope_freqs.weight";

  /// Keys that change nothing that is computed here.
  static const std::set<std::string>& harmless_keys() {
    static const std::set<std::string> keys{
        "context_length", "attention.value_length", "expert_count",       "expert_used_count",
        "pooling_type",   "rope.scaling.finetuned", "tensor_data_layout", "vocab_size"};
    return keys;
  }

  /// The file's keys of its architecture, without its name, nested; and the rows of tensors that belong to no layer.
  json facts() const {
    json facts = json::object();
    constexpr std::ptrdiff_t deepest = 5;
    for (const auto& [key, value] : files_.front()->header().metadata)
      if (key.starts_with(architecture_ + ".") && std::ranges::count(key, '.') <= deepest)
        put(facts, std::string_view(key).substr(architecture_.size() + 1),
            json_of(value, !key.ends_with("sliding_window_pattern")), file_, key);
    facts.erase("rows");
    for (const auto& [name, tensor] : tensors_)
      if (tensor->shape.size() == 2 && name.ends_with(".weight") && name.find('.') + 7 == name.size())
        facts["rows"][part_and_kind(name).first] = tensor->shape.front();
    return facts;
  }

  [[nodiscard]] std::string text(const toml::table& table, const char* key) const {
    const auto found = table[key].value<std::string>();
    if (!found) throw FormatError(fmt::format("{}.toml: '{}' should be text", architecture_, key));
    return *found;
  }

  /// A table of texts.
  [[nodiscard]] std::map<std::string, std::string> texts(const char* key) const {
    std::map<std::string, std::string> texts;
    if (const toml::table* table = resolved_.table.get_as<toml::table>(key))
      for (const auto& [name, node] : *table) texts[std::string(name.str())] = node.value_or(std::string());
    return texts;
  }

  static std::set<std::string> list(const toml::table* table, const char* key) {
    std::set<std::string> texts;
    if (table == nullptr) return texts;
    if (const toml::array* entries = table->get_as<toml::array>(key))
      for (const toml::node& entry : *entries) texts.insert(entry.value_or(std::string()));
    return texts;
  }

  /// An expression's value; nothing where it is empty, or a key that the file does not have.
  [[nodiscard]] std::optional<double> value(const std::string& expression) const {
    const bool is_key = expression.find_first_of(" ()'") == std::string::npos;
    if (expression.empty() || (is_key && !expression.empty() &&
                               !std::isdigit(static_cast<unsigned char>(expression[0])) && !config_->has(expression)))
      return {};
    return expressions_->value(expression);
  }

  /// Which layers have a window, where the file lists it: one for each layer, or every so many.
  void set_pattern(json& said) const {
    constexpr const char* key = "attention.sliding_window_pattern";
    if (!config_->has(key)) return;
    const json& pattern = facts_["attention"]["sliding_window_pattern"];
    if (!pattern.is_array()) {
      said["sliding_window_pattern"] = pattern;
      return;
    }
    for (const json& local : pattern)
      said["layer_types"].push_back(local == json(0) ? "full_attention" : "sliding_attention");
  }

  /// Rotary positions: how many channels turn, and what slows them.
  void set_rotation(json& said) const {
    const auto number = [&](const char* key) { return config_->number(key); };
    const double width = number("attention.key_length")
                             .value_or(number("embedding_length").value_or(0) /
                                       std::max(number("attention.head_count").value_or(1), 1.0));
    if (const auto channels = number("rope.dimension_count"); channels && *channels != width && width > 0)
      said["partial_rotary_factor"] = *channels / width;
    json scaling = json::object();
    std::string type = scaling_type();
    const auto factor = number("rope.scaling.factor");
    const auto linear = number("rope.scale_linear");
    if (type.empty() && (linear || factor)) type = "linear";
    if (const auto listed = tensors_.find(factors_name); listed != tensors_.end()) {
      const nlohmann::json factors = rotary_factors(*listed->second);
      scaling = {{"rope_type", "longrope"},
                 {"short_factor", factors},
                 {"long_factor", factors},
                 {"factor", 1},
                 {"original_max_position_embeddings", 1}};  // one list, whatever the length
    } else if (type == "linear" || type == "yarn") {
      scaling = {{"rope_type", type}, {"factor", factor.value_or(linear.value_or(1))}};
      for (const auto& [key, own] :
           {std::pair{"rope.scaling.original_context_length", "original_max_position_embeddings"},
            {"rope.scaling.yarn_beta_fast", "beta_fast"},
            {"rope.scaling.yarn_beta_slow", "beta_slow"}})
        if (const auto found = number(key))
          scaling[own] = *found == std::floor(*found) ? json(static_cast<std::int64_t>(*found)) : json(*found);
      for (const auto& [key, usual] : {std::pair{"rope.scaling.attn_factor", 1.0},
                                       {"rope.scaling.yarn_attn_factor", 1.0},
                                       {"rope.scaling.yarn_ext_factor", 1.0},
                                       {"rope.scaling.yarn_log_multiplier", 0.0}})
        if (const auto found = number(key); found && type == "yarn" && *found != usual)
          config_->fail(fmt::format("'{}' is {}, which is not known here; expected {}", key, *found, usual));
    } else if (!type.empty() && type != "none") {
      config_->fail(fmt::format("'rope.scaling.type' is '{}', expected none, linear or yarn", printable(type, 60)));
    }
    if (!scaling.empty()) said["rope_scaling"] = scaling;
  }

  [[nodiscard]] std::string scaling_type() const {
    if (!config_->has("rope.scaling.type")) return "";
    return config_->object("rope").object("scaling").text_or("type", "");
  }

  /// What the frequency of each pair of channels is divided by: Llama 3's scaling, spelled out.
  [[nodiscard]] std::vector<float> rotary_factors(const TensorInfo& tensor) const {
    constexpr Index most_pairs = Index{1} << 16U;
    if (tensor.size() > most_pairs)
      throw FormatError(fmt::format("{}: tensor '{}' has {} numbers, expected one for each pair of a head's channels",
                                    file_, factors_name, tensor.size()));
    for (const auto& file : files_)
      if (std::ranges::any_of(file->header().tensors, [&](const TensorInfo& one) { return &one == &tensor; })) {
        const Checkpoint alone(file->path(), {file}, {{tensor.name, file.get(), tensor, {}}});
        const VectorView32 values = alone.vector(tensor.name, tensor.size());
        return {values.data(), values.data() + values.size()};
      }
    return {};
  }

  /// Which ids pad and close documents.
  void set_specials(json& said) const {
    for (const auto& [key, own] : {std::pair{"tokenizer.ggml.padding_token_id", "pad_token_id"},
                                   {"tokenizer.ggml.eos_token_id", "eos_token_id"}})
      if (files_.front()->find(key) != nullptr) said[own] = files_.front()->integer_or(key, -1);
  }

  const GgufFiles& files_;
  std::string file_;
  const std::string& architecture_;
  std::map<std::string, const TensorInfo*> tensors_;
  json facts_;
  std::optional<ModelConfig> config_;
  ModelFacts model_facts_{[this]() -> const ModelConfig& { return *config_; },
                          [this](const std::string& name) { return tensors_.contains(name); }};
  ResolvedMap resolved_;
  std::optional<MapExpressions> expressions_;
};

/// "F32 21, Q4_K 48 tensors, dequantised to float32"
std::string types_text(const GgufFiles& files) {
  std::map<std::string, int> counts;
  for (const auto& file : files)
    for (const TensorInfo& tensor : file->header().tensors) ++counts[tensor.dtype];
  std::string text;
  bool quantised = false;
  for (const auto& [type, count] : counts) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", type, count);
    quantised = quantised || quantised_type(type) != nullptr;
  }
  return text + (quantised ? " tensors, dequantised to float32" : " tensors");
}

}  // namespace

std::vector<std::string> known_architectures() {
  std::vector<std::string> names;
  for (const FamilyFile& file : gguf_architectures())
    if (file.text.find("\nmodel_type = ") != std::string_view::npos) names.emplace_back(file.family);
  return names;
}

GgufModel gguf_model(const std::filesystem::path& path, bool any) {
  const GgufFiles files = gguf_files(path);
  const std::string architecture = files.front()->text_or("general.architecture", "");
  const std::vector<std::string> known = known_architectures();
  const std::vector<std::shared_ptr<const TensorFile>> kept(files.begin(), files.end());
  GgufModel model{nullptr, {}, architecture, types_text(files)};
  if (std::ranges::find(known, architecture) != known.end()) {
    Translation translation(files, architecture);
    model.checkpoint = std::make_shared<const Checkpoint>(path, kept, translation.tensors());
    model.config = translation.config();
    return model;
  }
  if (!any)
    throw FormatError(fmt::format("{}: 'general.architecture' is '{}', which is not known; headwave reads {} from "
                                  "GGUF files, and more models from folders of safetensors",
                                  shown_path(path), printable(architecture, 60), fmt::join(known, ", ")),
                      give("map", "FILE.toml", "to say what its tensors are"));
  std::vector<RenamedTensor> tensors;
  for (const auto& file : files)
    for (const TensorInfo& tensor : file->header().tensors) tensors.push_back({tensor.name, file.get(), tensor, {}});
  model.checkpoint = std::make_shared<const Checkpoint>(path, kept, tensors);
  return model;
}

}  // namespace headwave
