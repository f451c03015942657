#include "model_directory.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "../../core/attention/sinusoids.h"
#include "../../core/numbers/error.h"
#include "../files/digest.h"
#include "../files/json_file.h"
#include "../files/printable.h"
#include "config_arithmetic.h"
#include "model_config.h"
#include "model_family.h"
#include "model_map_file.h"
#include "model_weights.h"

namespace headwave {

namespace {

namespace fs = std::filesystem;

fs::path config_beside(const fs::path& weights) {
  if (!fs::exists(weights))
    throw IoError(fmt::format("{}: not found; expected a model directory with config.json and model.safetensors",
                              weights.string()));
  const fs::path folder = fs::is_directory(weights) ? weights : weights.parent_path();
  fs::path config = folder / "config.json";
  if (!fs::exists(config))
    throw IoError(fmt::format("{}: not found; expected a Hugging Face model directory, or a map (--map FILE.toml)",
                              config.string()));
  return config;
}

ModelMap described(const ModelPlace& place, const Checkpoint& checkpoint) {
  if (!place.map.empty()) return model_map_file(place.map);
  const fs::path file = config_beside(place.weights);
  const nlohmann::json json = json_of_file(file, {.max_bytes = largest_config});
  return family_map(ModelConfig(json, file.string()), [&](const std::string& name) { return checkpoint.has(name); });
}

/// @param read_as  the config as the family of the check read it
/// @throws FormatError if the config, the checkpoint or what is known of the model type says that the map of the check
///         would compute something else
void require_same_arithmetic(const ModelConfig& config, const ModelConfig& read_as, const ModelCheck& check) {
  const std::string type = config.family();
  const auto refuse = [&](const std::string& why) {
    config.fail(
        fmt::format("model type '{}' is not known; it looks like a {}, but {}: its attention would be wrong, so no "
                    "map is proposed (docs/model-map.md)",
                    printable(type, 60), check.map.family, why));
  };
  if (const std::string silent = silent_arithmetic(type); !silent.empty()) refuse(silent);
  const auto listed = [](const std::vector<std::string>& names) {
    std::string list;
    for (const std::string& name : names) list += fmt::format("{}'{}'", list.empty() ? "" : ", ", printable(name, 80));
    return list;
  };
  if (const std::vector<std::string> unread = unread_arithmetic(read_as); !unread.empty())
    refuse(fmt::format("{} may change its numbers in a way that is not known here", listed(unread)));
  std::vector<std::string> unused = check.unused;
  std::erase_if(unused, [](const std::string& name) { return is_of_a_head(name); });
  if (!unused.empty()) refuse(fmt::format("that does not read the tensors {}", listed(unused)));
}

/// The known family that reads the config without complaint and leaves the fewest problems; none where even that one
/// finds less than half of what it looks for.
/// @throws FormatError if that family would compute something else than the config says
template <class Check>
std::optional<ModelCheck> best_fit(const ModelPlace& place, const Checkpoint& checkpoint, const Check& checked) {
  const fs::path file = config_beside(place.weights);
  const nlohmann::json json = json_of_file(file, {.max_bytes = largest_config});
  const ModelConfig config(json, file.string());
  std::vector<std::string> known = known_families();
  // Of those that tensors do not tell apart the plainest is proposed: what the others add stands in config.json.
  std::ranges::stable_partition(known, [](const std::string& name) { return name != "gemma" && name != "granite"; });
  const std::string family = config.family();
  if (std::find(known.begin(), known.end(), family) != known.end()) return {};
  std::optional<ModelCheck> best;
  std::optional<ModelConfig> read_as;
  for (const std::string& name : known) {
    try {
      const ModelConfig as = config.as(name);
      ModelCheck check = checked(family_map(as, [&](const std::string& tensor) { return checkpoint.has(tensor); }));
      if (best && check.problems.size() >= best->problems.size()) continue;
      best = std::move(check);
      read_as.emplace(as);
    } catch (const FormatError&) {
      continue;  // its settings are not these
    }
  }
  if (!best || 2 * best->problems.size() > checkpoint.names().size()) return {};
  require_same_arithmetic(config, *read_as, *best);
  best->proposed = true;
  best->map.reason = fmt::format("config.json says '{}', which is not known; of the known families {} fits best",
                                 family, best->map.family);
  return best;
}

/// Says that something is missing before the checkpoint is looked for.
std::shared_ptr<const Checkpoint> checkpoint_of(const ModelPlace& place) {
  if (place.map.empty()) config_beside(place.weights);
  return std::make_shared<const Checkpoint>(place.weights);
}

/// @throws FormatError if the checkpoint has not all that the map names
Model whole_model(MappedWeights mapped, const std::string& called) {
  if (!mapped.problems.empty())
    throw FormatError(fmt::format(
        "{}: {}{}; `headwave inspect` lists what is there", called, mapped.problems.front(),
        mapped.problems.size() > 1 ? fmt::format(" (and {} more like it)", mapped.problems.size() - 1) : ""));
  return std::move(mapped.model);
}

}  // namespace

ModelMap model_map(const ModelPlace& place) {
  return described(place, *checkpoint_of(place));
}

Model open_model(const ModelPlace& place) {
  const std::shared_ptr<const Checkpoint> checkpoint = checkpoint_of(place);
  return whole_model(mapped_weights(described(place, *checkpoint), checkpoint), place.weights.string());
}

ModelMap model_map(const std::string& config, const std::string& called, const std::vector<std::string>& tensors) {
  const std::string name = called + ": its config";
  const nlohmann::json values = json_of_text(config, name, {.max_bytes = largest_config});
  const std::set<std::string> there(tensors.begin(), tensors.end());
  return family_map(ModelConfig(values, name), [&](const std::string& tensor) { return there.contains(tensor); });
}

Model open_model(const std::string& config, std::shared_ptr<const Checkpoint> checkpoint) {
  const std::string name = checkpoint->path().string();
  const ModelMap map = model_map(config, name, checkpoint->names());
  return whole_model(mapped_weights(map, std::move(checkpoint)), name);
}

PartialModel open_partial_model(const ModelPlace& place) {
  const std::shared_ptr<const Checkpoint> checkpoint = checkpoint_of(place);
  MappedWeights mapped = mapped_weights(described(place, *checkpoint), checkpoint);
  if (mapped.problems.size() > mapped.missing.size()) return {open_model(place), {}};  // which says what is wrong
  return {std::move(mapped.model), std::move(mapped.missing)};
}

ModelCheck model_check(const ModelPlace& place) {
  const std::shared_ptr<const Checkpoint> checkpoint = checkpoint_of(place);
  const auto checked = [&](ModelMap map) {
    MappedWeights mapped = mapped_weights(map, checkpoint, {.check_values = false});
    return ModelCheck{std::move(map), std::move(mapped.problems), std::move(mapped.unused), false};
  };
  try {
    return checked(described(place, *checkpoint));
  } catch (const FormatError&) {
    if (!place.map.empty()) throw;
    const std::optional<ModelCheck> proposal = best_fit(place, *checkpoint, checked);
    if (!proposal) throw;
    return *proposal;
  }
}

Matrix32 position_table(const ModelPlace& place) {
  const std::shared_ptr<const Checkpoint> checkpoint = checkpoint_of(place);
  const ModelMap map = described(place, *checkpoint);
  const PositionMap& positions = map.stack.positions;
  if (positions.kind == PositionKind::sinusoids) {
    const std::string problem = too_many_sinusoids(map.longest, map.stack.d_model);
    if (!problem.empty()) throw FormatError(fmt::format("{}: {}", place.weights.string(), problem));
    return sinusoids(map.longest, map.stack.d_model, positions.sinusoids);
  }
  if (positions.kind != PositionKind::table)
    throw FormatError(fmt::format("{}: a {} has no position table; expected a model with absolute positions",
                                  place.weights.string(), map.family));
  const MatrixView32 table = checkpoint->matrix(positions.table, positions.rows,
                                                map.stack.d_embedding > 0 ? map.stack.d_embedding : map.stack.d_model);
  if (!table.allFinite())
    throw FormatError(fmt::format("{}: tensor '{}' holds {} values that are NaN or infinite; expected finite weights",
                                  place.weights.string(), positions.table, checkpoint->non_finite(positions.table)));
  return table.bottomRows(positions.rows - positions.first_row);
}

Attributes model_provenance(const ModelPlace& place) {
  std::vector<fs::path> files = Checkpoint(place.weights).files();
  files.insert(files.begin(), place.map.empty() ? config_beside(place.weights) : place.map);
  return {{"model", place.weights.string()}, {"model_sha256", sha256_list(files)}};
}

}  // namespace headwave
