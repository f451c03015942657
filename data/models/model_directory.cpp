#include "model_directory.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "../../core/attention/position_term.h"
#include "../../core/errors/error.h"
#include "../../core/process/process_memory.h"
#include "../files/digest.h"
#include "../files/json_file.h"
#include "../files/printable.h"
#include "families.h"
#include "model_config.h"
#include "model_weights.h"

namespace headwave {

namespace {

namespace fs = std::filesystem;

fs::path config_beside(const fs::path& weights) {
  if (!fs::exists(weights))
    throw IoError(fmt::format("{}: not found; expected a model directory with config.json and model.safetensors",
                              shown_path(weights)));
  const fs::path folder = fs::is_directory(weights) ? weights : weights.parent_path();
  fs::path config = folder / "config.json";
  if (!fs::exists(config))
    throw IoError(fmt::format("{}: not found; expected a Hugging Face model directory", shown_path(config)),
                  give("map", "FILE.toml", "to say what the tensors of other weights are"));
  return config;
}

/// A config.json with the settings that were read from it.
struct ConfigFile {
  explicit ConfigFile(const fs::path& file)
      : json(json_of_file(file, largest_config)), config(json, shown_path(file)) {}
  nlohmann::json json;
  ModelConfig config;
};

/// A checkpoint and its description.
struct Described {
  std::shared_ptr<const Checkpoint> checkpoint;
  ModelMap map = {};
  bool asks_config = false;              ///< the map read config.json
  std::vector<std::string> unread = {};  ///< settings of config.json that were not read and may change numbers
};

Described described(const ModelPlace& place) {
  if (place.map.empty()) config_beside(place.weights);  // reports a missing config.json before missing weights
  Described said{std::make_shared<const Checkpoint>(place.weights)};
  std::optional<ConfigFile> file;
  const auto config = [&]() -> const ModelConfig& {
    if (!file) file.emplace(config_beside(place.weights));
    return file->config;
  };
  const ModelFacts facts{config, [&](const std::string& name) { return said.checkpoint->has(name); }};
  said.map = place.map.empty() ? family_map(config(), facts.has) : model_map_of(place.map, facts);
  said.asks_config = file.has_value();
  if (file) said.unread = file->config.unread();
  return said;
}

MappedWeights weights_of(const Described& said, const ModelPlace& place) {
  const ModelMap& map = said.map;
  if (place.layers > 0 && map.decoder)
    throw ShapeError(
        fmt::format("{}: only the first {} layers are requested, but the decoder of a {} reads the encoder's "
                    "last layer",
                    shown_path(place.weights), place.layers, map.family),
        omit("layers"));
  if (place.layers > map.stack.layers)
    throw ShapeError(fmt::format("{}: layers 0 to {} are requested, but the model has only {}",
                                 shown_path(place.weights), place.layers - 1, map.stack.layers),
                     give("layers", fmt::format("0-{}", map.stack.layers - 1), "or fewer"));
  WeightOptions options;
  options.layers = place.layers;
  const std::int64_t there = place.memory > 0 ? std::min(place.memory, free_memory()) : free_memory();
  const double share = place.layers > 0 ? static_cast<double>(place.layers) / static_cast<double>(map.stack.layers) : 1;
  const double bytes = share * sizeof(float) * static_cast<double>(said.checkpoint->parameters());
  options.by_layer = place.weights_in == WeightsIn::layers ||
                     (place.weights_in == WeightsIn::either && bytes > static_cast<double>(there) / 2);
  return mapped_weights(map, said.checkpoint, options);
}

/// @throws FormatError if the checkpoint does not match the map
Model whole_model(MappedWeights mapped, const std::string& called) {
  if (!mapped.problems.empty()) throw FormatError(problems_text(called, mapped.problems));
  return std::move(mapped.model);
}

}  // namespace

ModelMap model_map(const ModelPlace& place) {
  return described(place).map;
}

Model open_model(const ModelPlace& place) {
  return whole_model(weights_of(described(place), place), place.weights.string());
}

ModelMap model_map(const std::string& config, const std::string& called, const std::vector<std::string>& tensors) {
  const std::string name = called + ": its config";
  const nlohmann::json values = json_of_text(config, name);
  const std::set<std::string> there(tensors.begin(), tensors.end());
  return family_map(ModelConfig(values, name), [&](const std::string& tensor) { return there.contains(tensor); });
}

Model open_model(const std::string& config, std::shared_ptr<const Checkpoint> checkpoint) {
  const std::string name = checkpoint->path().string();
  const ModelMap map = model_map(config, name, checkpoint->names());
  return whole_model(mapped_weights(map, std::move(checkpoint)), name);
}

PartialModel open_partial_model(const ModelPlace& place) {
  MappedWeights mapped = weights_of(described(place), place);
  if (mapped.problems.size() > mapped.missing.size()) return {open_model(place), {}};  // throws the other problem
  return {std::move(mapped.model), std::move(mapped.missing)};
}

ModelCheck model_check(const ModelPlace& place) {
  Described said = described(place);
  // By layer, so that only shapes are looked at. Otherwise all weights in half precision would be converted.
  MappedWeights mapped = mapped_weights(said.map, said.checkpoint, {.check_values = false, .by_layer = true});
  return {std::move(said.map), std::move(mapped.problems), std::move(mapped.unused), std::move(said.unread)};
}

Matrix32 position_table(const ModelPlace& place) {
  const auto [checkpoint, map, asks, unread] = described(place);
  const PositionMap& positions = map.stack.positions;
  if (positions.kind == PositionKind::sinusoids) {
    const std::string problem = too_many_sinusoids(map.longest, map.stack.d_model);
    if (!problem.empty()) throw FormatError(fmt::format("{}: {}", shown_path(place.weights), problem));
    return sinusoids(map.longest, map.stack.d_model, positions.sinusoids);
  }
  if (!positions.has_table())
    throw FormatError(fmt::format("{}: a {} has no position table; expected a model with absolute positions",
                                  shown_path(place.weights), map.family));
  const MatrixView32 table = checkpoint->matrix(
      positions.table, {positions.rows, map.stack.d_embedding > 0 ? map.stack.d_embedding : map.stack.d_model});
  if (!are_finite(table))
    throw FormatError(fmt::format("{}: {}", shown_path(place.weights), not_finite_text(positions.table)));
  return table.bottomRows(positions.rows - positions.first_row);
}

fs::path tokenizer_place(const ModelPlace& place) {
  std::error_code ignored;
  if (fs::is_directory(place.weights, ignored)) return place.weights;
  return place.weights.has_parent_path() ? place.weights.parent_path() : ".";
}

std::vector<std::int32_t> configured_ids(const ModelPlace& place, std::initializer_list<const char*> keys) {
  const fs::path file = tokenizer_place(place) / "config.json";
  std::error_code ignored;
  if (!fs::exists(file, ignored)) return std::vector<std::int32_t>(keys.size(), -1);
  const nlohmann::json config = json_of_file(file);
  std::vector<std::int32_t> ids;
  for (const char* key : keys) {
    const auto found = config.find(key);
    const auto number = found != config.end() && found->is_number_integer() ? found->get<std::int64_t>() : -1;
    ids.push_back(number <= std::numeric_limits<std::int32_t>::max() ? static_cast<std::int32_t>(number) : -1);
  }
  return ids;
}

std::int32_t decoder_start(const std::filesystem::path& folder) {
  constexpr const char* key = "decoder_start_token_id";
  for (const char* name : {"config.json", "generation_config.json"}) {
    const std::filesystem::path path = folder / name;
    std::error_code ignored;
    if (std::string_view(name) != "config.json" && !std::filesystem::exists(path, ignored)) continue;
    const nlohmann::json value = json_of_file(path);
    const JsonObject config(value, shown_path(path));
    if (!config.has(key)) continue;
    const std::int64_t id = config.integer(key);
    if (id < 0 || id > std::numeric_limits<std::int32_t>::max())
      throw FormatError(fmt::format("{}: '{}' is {}, expected the id of a token", config.place(), key, id));
    return static_cast<std::int32_t>(id);
  }
  throw FormatError(fmt::format("{}: '{}' is missing; expected the id of the token that the decoder reads first",
                                shown_path(folder / "config.json"), key),
                    give("ids", "FILE", "with token ids"));
}

Attributes exceeded_lengths(const std::filesystem::path& folder, Index tokens) {
  constexpr double any_length = 1 << 24;  // longer ones stand for "any"
  std::multimap<Index, std::string> exceeded;
  for (const auto& [name, key] : {std::pair("sentence_bert_config.json", "max_seq_length"),
                                  {"tokenizer_config.json", "model_max_length"},
                                  {"config.json", "max_position_embeddings"}}) {
    std::ostringstream text;
    text << std::ifstream(folder / name, std::ios::binary).rdbuf();  // an unreadable file names no length
    const nlohmann::json settings = nlohmann::json::parse(text.str(), nullptr, false);
    if (!settings.is_object() || !settings.contains(key) || !settings[key].is_number()) continue;
    const double length = settings[key].get<double>();
    if (length >= 1 && length < any_length && length < static_cast<double>(tokens))
      exceeded.emplace(static_cast<Index>(length), fmt::format("{:.0f} in {} ({})", length, name, key));
  }
  if (exceeded.empty()) return {};
  std::string all;
  for (const auto& [length, text] : exceeded) all += (all.empty() ? "" : ", ") + text;
  return {{"named_length", std::int64_t{exceeded.begin()->first}}, {"named_lengths", all}};
}

Attributes model_provenance(const ModelPlace& place) {
  std::vector<fs::path> files = Checkpoint(place.weights).files();
  if (place.map.empty() || described(place).asks_config) files.insert(files.begin(), config_beside(place.weights));
  if (!place.map.empty()) files.insert(files.begin(), place.map);
  Attributes said{{"model", place.weights.string()}, {"model_sha256", sha256_list(files)}};
  if (place.layers > 0) said["first_layers"] = static_cast<std::int64_t>(place.layers);
  return said;
}

}  // namespace headwave
