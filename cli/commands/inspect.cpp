#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "../../data/arrays/safetensors.h"
#include "../../data/files/input_text.h"
#include "../../data/hdf5/hdf5_file.h"
#include "../../data/listing/listing.h"
#include "../../data/models/families.h"
#include "../../data/models/model_directory.h"
#include "../../data/results/result_file.h"
#include "../../reports/drawing/visible_text.h"
#include "../../reports/figures/chosen_heads.h"
#include "../../reports/tables/head_findings.h"
#include "../../reports/tables/head_table.h"
#include "../options/help.h"
#include "../options/option_row.h"
#include "../results/result_folder.h"
#include "../results/result_json.h"
#include "../results/result_path.h"
#include "../terminal/terminal.h"
#include "commands.h"

namespace headwave::cli {

namespace {

struct InspectOptions {
  std::filesystem::path path;
  bool json = false;
  bool csv = false;  ///< only the table of heads
  bool attributes = false;
  bool map = false;
  bool job = false;
  HeadTableOptions table;
};

std::string text_of(const Attribute& attribute) {
  if (const auto* text = std::get_if<std::string>(&attribute)) return visible_text(*text);
  return attribute_json(attribute);
}

std::string shape_column(const ListingEntry& entry) {
  if (entry.dtype.empty()) return "";
  return entry.shape.empty() ? "one entry" : shape_text(entry.shape);
}

std::string entry_table(const std::vector<ListingEntry>& entries) {
  std::vector<TableColumn> columns;
  for (const char* name : {"name", "kind", "type", "shape", "unit", "storage"})
    columns.push_back({name, Align::left, {}});
  for (const ListingEntry& entry : entries) {
    const std::array cells{entry.name, entry.kind, entry.dtype, shape_column(entry), entry.unit, entry.storage};
    for (std::size_t i = 0; i < cells.size(); ++i) columns[i].cells.push_back(cells[i]);
  }
  return terminal_table(columns);
}

/// Prints the facts of a listing: long ones are cut, and names of arrays, which follow below, are left out.
void print_facts(const Listing& listing, bool attributes) {
  fmt::print("{}: {}\n", visible_text(listing.path.string()), listing.kind);
  for (const auto& [name, value] : listing.facts) {
    if (name == "fields" && !attributes) continue;
    const std::string line = fmt::format("  {}: {}", visible_text(name), text_of(value));
    fmt::print("{}\n", attributes ? line : shortened(line, terminal_width));
  }
  for (const std::string& note : listing.notes) fmt::print("  note: {}\n", visible_text(note));
  fmt::print("\n");
}

/// Prints arrays, each with its attributes below it: as a cell, a long one would widen the whole column.
void print_entries(const Listing& listing, bool attributes) {
  constexpr std::size_t heading = 2;
  std::size_t number = 0;
  each_line(entry_table(listing.entries), [&](std::string_view line) {
    fmt::print("{}\n", line);
    if (++number <= heading || !attributes) return;
    for (const auto& [name, value] : listing.entries[number - heading - 1].attributes)
      fmt::print("  @{} {}\n", visible_text(name), text_of(value));
  });
}

/// Prints the map of the model's family, to be changed by hand; on stderr, what does not fit the model.
int propose_map(const std::filesystem::path& path) {
  const ModelCheck check = model_check(path);
  fmt::print("{}", std::ranges::find(family_files(), check.map.family, &FamilyFile::family)->text);
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

/// The result in a folder that contains one, as for `headwave figures`; otherwise the path itself.
/// @throws IoError if it contains a result for each kind of attention, or an unfinished run
std::filesystem::path meant(const std::filesystem::path& path) {
  std::error_code ignored;
  if (std::filesystem::exists(path / "config.json", ignored)) return path;
  if (!result_files(path).empty()) return result_path(path);
  require_no_begun_run(path);
  return path;
}

/// Prints the table of heads for programs, and nothing else.
void print_csv(const Listing& listing) {
  if (!is_result(listing))
    throw FormatError(fmt::format("{}: expected a headwave result, which has a table of heads, found {}",
                                  listing.path.string(), listing.kind));
  const Result result = read_result(*listing.hdf5, fields_of_heads(listing));
  std::fputs(comma_separated(head_data(result, head_values(result))).c_str(), stdout);
}

void print_listing(const Listing& listing, const InspectOptions& options) {
  if (options.csv) return print_csv(listing);
  if (options.json) {
    std::fputs(listing_json(listing).c_str(), stdout);
    return;
  }
  std::string heads;
  if (is_result(listing)) {
    const Result result = read_result(*listing.hdf5, fields_of_heads(listing));
    (void)heads_asked_for(result, options.table.heads);
    if (!shown_columns(result, options.table).empty()) heads = seen_head_table(result, options.table) + "\n";
  }
  // A choice of heads or columns asks for these alone.
  const HeadTableOptions& table = options.table;
  const bool chosen = table.all || table.wide || !table.sort.empty() || !table.heads.empty();
  if (chosen && !options.attributes && !heads.empty()) {
    fmt::print("{}", heads);
    return;
  }
  print_facts(listing, options.attributes);
  fmt::print("{}", heads);
  print_entries(listing, options.attributes);
}

int inspect(const InspectOptions& options) {
  if (options.job) return print_job(meant(options.path));
  if (options.map) return propose_map(options.path);
  const Listing listing = listing_of(meant(options.path));
  print_listing(listing, options);
  if (!listing.damage.empty()) throw FormatError(listing.damage);
  return done;
}

}  // namespace

void add_inspect(CLI::App& program, Command& chosen) {
  auto options = std::make_shared<InspectOptions>();
  CLI::App* command = program.add_subcommand(
      "inspect", "show the content of a result, a model directory, or a safetensors, HDF5 or npy file");
  command->add_option("path", options->path, "file or folder; recognised by content, not by name")
      ->required()
      ->type_name("PATH");
  OptionRows(*command, "Table")("--heads", options->table.heads, "HEADS",
                                "heads to show, such as L2H3,L7H8 (both count from 0) or strongest:6")
      ->delimiter(',');
  add_table_options(*command, options->table);
  const OptionRows row(*command);
  // Each of these prints something else.
  const std::vector<CLI::Option*> views{
      row("--json", options->json, nullptr, "print JSON for other programs (docs/inspect-json.md)"),
      row("-a,--attributes", options->attributes, nullptr, "also show the attributes of every array"),
      row("--csv", options->csv, nullptr, "print the table of a result's heads as CSV"),
      row("--map", options->map, nullptr, "print the map of a model's family, for `run --map`"),
      row("--job", options->job, nullptr, "print the job that made a result, for `run --job`")};
  for (std::size_t i = 1; i < views.size(); ++i)
    for (std::size_t before = 0; before < i; ++before) views[i]->excludes(views[before]);
  add_examples(*command, {{"inspect result/results.h5", "the strongest heads of a result, and its arrays"},
                          {"inspect result --all --wide --sort offset", "every head and column, by where heads look"},
                          {"inspect result --csv > heads.csv", "the table of heads, for pandas or R"},
                          {"inspect minilm --json", "the family of a model, and missing tensors"},
                          {"inspect result --job > job.toml",
                           "the job of a result, for `headwave run --job job.toml --out again`"}});
  command->final_callback([=, &chosen] { chosen = [=] { return inspect(*options); }; });
}

}  // namespace headwave::cli
