#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "../../core/fields/head_name.h"
#include "../../data/arrays/safetensors_file.h"
#include "../../data/hdf5/hdf5_file.h"
#include "../../data/listing/listing.h"
#include "../../data/models/model_directory.h"
#include "../../data/models/model_map_file.h"
#include "../../data/results/result_file.h"
#include "../../reports/drawing/visible_text.h"
#include "../../reports/tables/head_findings.h"
#include "../../reports/tables/head_table.h"
#include "../../reports/tables/position_note.h"
#include "../options/help.h"
#include "../terminal/terminal.h"
#include "commands.h"

namespace headwave::cli {

namespace {

using nlohmann::ordered_json;

/// Version of what --json prints, docs/inspect-json.md; a key may be added within a version, none removed or changed.
/// 2: heads are numbers, not texts of a table.
constexpr int json_version = 2;

struct InspectOptions {
  std::filesystem::path path;
  bool json = false;
  bool attributes = false;
  bool map = false;
  bool job = false;
};

ordered_json json_of(const Attribute& attribute) {
  return std::visit([](const auto& value) -> ordered_json { return value; }, attribute);
}

ordered_json json_of(const Attributes& attributes) {
  ordered_json object = ordered_json::object();
  for (const auto& [name, value] : attributes) object[name] = json_of(value);
  return object;
}

ordered_json json_of(const Listing& listing) {
  ordered_json entries = ordered_json::array();
  for (const ListingEntry& entry : listing.entries)
    entries.push_back({{"name", entry.name},
                       {"kind", entry.kind},
                       {"dtype", entry.dtype},
                       {"shape", entry.shape},
                       {"unit", entry.unit},
                       {"storage", entry.storage},
                       {"attributes", json_of(entry.attributes)}});
  return {{"version", json_version}, {"path", listing.path.string()},
          {"kind", listing.kind},    {"facts", json_of(listing.facts)},
          {"entries", entries},      {"notes", listing.notes}};
}

/// JSON has no NaN: undefined numbers are null.
ordered_json number_or_null(double number) {
  return std::isnan(number) ? ordered_json() : ordered_json(number);
}

ordered_json text_or_null(const std::string& text) {
  return text.empty() ? ordered_json() : ordered_json(text);
}

ordered_json heads_json(const Result& result) {
  ordered_json heads = ordered_json::array();
  for (const HeadFinding& found : head_findings(result)) {
    ordered_json head{{"head", head_name(found.name.layer, found.name.head)},
                      {"layer", found.name.layer},
                      {"index", found.name.head},
                      {"offset", number_or_null(found.offset)},
                      {"status", text_or_null(found.status)},
                      {"weight", number_or_null(found.weight)},
                      {"threshold", number_or_null(found.threshold)},
                      {"chance", number_or_null(found.chance)},
                      {"predicted_offset", number_or_null(found.by_weights.offset)},
                      {"predicted_status", text_or_null(found.by_weights.status)},
                      {"predicted_weight", number_or_null(found.predicted_weight)},
                      {"predicted_chance", number_or_null(found.predicted_chance)},
                      {"offset_by_phases", number_or_null(found.by_phases.offset)},
                      {"status_by_phases", text_or_null(found.by_phases.status)},
                      {"offset_by_scores", number_or_null(found.by_scores.offset)},
                      {"status_by_scores", text_or_null(found.by_scores.status)},
                      {"toeplitz_r2", number_or_null(found.toeplitz_r2)},
                      {"other_r2", number_or_null(found.other_r2)},
                      {"other_null_quantile", number_or_null(found.other_null)},
                      {"q_value", number_or_null(found.q_value)},
                      {"cluster", found.cluster ? ordered_json(*found.cluster) : ordered_json()},
                      {"cluster_share", number_or_null(found.share)}};
    if (found.planted)
      head["planted"] = {{"kind", found.planted->kind},
                         {"offset", number_or_null(found.planted->offset)},
                         {"found", found.planted->found}};
    heads.push_back(std::move(head));
  }
  return heads;
}

std::string text_of(const Attribute& attribute) {
  if (const auto* text = std::get_if<std::string>(&attribute)) return visible_text(*text);
  return json_of(attribute).dump();
}

std::string shape_column(const ListingEntry& entry) {
  if (entry.dtype.empty()) return "";
  return entry.shape.empty() ? "one entry" : shape_text(entry.shape);
}

void print(const Listing& listing, bool attributes) {
  fmt::print("{}: {}\n", visible_text(listing.path.string()), listing.kind);
  for (const auto& [name, value] : listing.facts) fmt::print("  {}: {}\n", visible_text(name), text_of(value));
  for (const std::string& note : listing.notes) fmt::print("  note: {}\n", visible_text(note));
  TableColumn names{"name", Align::left, {}}, kinds{"kind", Align::left, {}}, types{"type", Align::left, {}},
      shapes{"shape", Align::left, {}}, units{"unit", Align::left, {}}, storage{"storage", Align::left, {}};
  for (const ListingEntry& entry : listing.entries) {
    names.cells.push_back(entry.name);
    kinds.cells.push_back(entry.kind);
    types.cells.push_back(entry.dtype);
    shapes.cells.push_back(shape_column(entry));
    units.cells.push_back(entry.unit);
    storage.cells.push_back(entry.storage);
    if (!attributes) continue;
    for (const auto& [name, value] : entry.attributes) {
      names.cells.push_back("  @" + name);
      kinds.cells.push_back(text_of(value));
      for (TableColumn* column : {&types, &shapes, &units, &storage}) column->cells.emplace_back();
    }
  }
  fmt::print("\n{}", terminal_table({names, kinds, types, shapes, units, storage}));
}

/// What the model is taken for, to be changed by hand; on stderr, what is wrong with that.
int propose_map(const std::filesystem::path& path) {
  const ModelCheck check = model_check(path);
  fmt::print("{}", model_map_text(check.map));
  for (const std::string& problem : check.problems) say(problem);
  return 0;
}

int print_job(const std::filesystem::path& path) {
  const Attributes provenance = read_result(Hdf5File(path), {}).provenance;
  const auto job = provenance.find("job");
  const auto* text = job == provenance.end() ? nullptr : std::get_if<std::string>(&job->second);
  if (text == nullptr)
    throw FormatError(fmt::format("{}: holds no job; expected a result of `headwave run`", path.string()));
  fmt::print("{}\n", *text);
  return 0;
}

/// A folder that holds a result stands for it, as it does for `headwave figures`.
std::filesystem::path meant(const std::filesystem::path& path) {
  std::error_code ignored;
  const bool is_model = std::filesystem::exists(path / "config.json", ignored);
  return !is_model && std::filesystem::exists(path / "results.h5", ignored) ? path / "results.h5" : path;
}

void print_listing(const Listing& listing, const InspectOptions& options) {
  const bool is_result = listing.kind == "headwave result" && listing.end.empty();
  const Result result = is_result ? read_result(*listing.hdf5, head_finding_fields()) : Result{};
  if (options.json) {
    ordered_json json = json_of(listing);
    if (is_result) json["heads"] = heads_json(result);
    fmt::print("{}\n", json.dump(2, ' ', false, ordered_json::error_handler_t::replace));
    return;
  }
  print(listing, options.attributes);
  if (is_result && !head_columns(result).empty()) fmt::print("\n{}", noted_head_table(result));
}

int inspect(const InspectOptions& options) {
  if (options.job) return print_job(meant(options.path));
  if (options.map) return propose_map(options.path);
  const Listing listing = listing_of(meant(options.path));
  print_listing(listing, options);
  if (!listing.end.empty()) throw FormatError(listing.end + "; what is listed comes before that");
  return done;
}

}  // namespace

void add_inspect(CLI::App& program, Command& chosen) {
  auto options = std::make_shared<InspectOptions>();
  CLI::App* command =
      program.add_subcommand("inspect", "what is in a result, a model directory, or a safetensors, HDF5 or npy file");
  command->add_option("path", options->path, "file or folder; told apart by content, not by name")
      ->required()
      ->type_name("PATH");
  CLI::Option* json = command->add_flag("--json", options->json, "print JSON, versioned, for other programs");
  CLI::Option* attributes =
      command->add_flag("-a,--attributes", options->attributes, "show the attributes of every array too");
  attributes->excludes(json);
  CLI::Option* map =
      command->add_flag("--map", options->map,
                        "print what a model directory is taken for as a map, to be changed and given to run --map");
  map->excludes(json)->excludes(attributes);
  command->add_flag("--job", options->job, "print the job that made a result, to be given to run --job")
      ->excludes(json)
      ->excludes(attributes)
      ->excludes(map);
  add_examples(*command,
               {{"inspect result/results.h5", "the arrays of a result, and the table of its heads"},
                {"inspect minilm --json", "a model directory: its family, and what is missing, for another program"},
                {"inspect result --job > job.toml",
                 "the job that made a result, for `headwave run --job job.toml --out again`"}});
  command->final_callback([=, &chosen] { chosen = [=] { return inspect(*options); }; });
}

}  // namespace headwave::cli
