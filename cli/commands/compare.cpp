#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "../../core/fields/head_name.h"
#include "../../core/fields/strongest_heads.h"
#include "../../data/files/replaced_file.h"
#include "../../data/hdf5/hdf5_file.h"
#include "../../data/results/result_file.h"
#include "../../job/studies/comparison.h"
#include "../../reports/drawing/terminal_table.h"
#include "../../reports/drawing/visible_text.h"
#include "../../reports/tables/comparison_table.h"
#include "../options/help.h"
#include "../options/values.h"
#include "../results/output_folder.h"
#include "../results/result_folder.h"
#include "../results/result_path.h"
#include "../terminal/terminal.h"
#include "commands.h"

namespace headwave::cli {

namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

/// Version of what --json prints, docs/compare-json.md; a key may be added within a version, none removed or
/// changed. 2: `positional` is `one_offset`, so that positional is the account's verdict alone.
constexpr int compare_json_version = 2;

struct CompareCommand {
  std::vector<fs::path> paths;
  ComparisonOptions options;
  FolderOptions folder;
  bool all = false, wide = false;
  bool json = false;
};

ordered_json number(double value) {
  return std::isfinite(value) ? ordered_json(value) : ordered_json();
}

const char* verdict_text(ChangeVerdict verdict) {
  switch (verdict) {
    case ChangeVerdict::within:
      return "within";
    case ChangeVerdict::beyond:
      return "beyond";
    case ChangeVerdict::no_interval:
      return "no interval";
    case ChangeVerdict::undefined:
      return "undefined";
  }
  return "";
}

ordered_json json_of(const Comparison& compared, const fs::path& second) {
  ordered_json differs = ordered_json::array(), heads = ordered_json::array();
  for (const ProvenanceChange& change : compared.provenance)
    differs.push_back(
        {{"about", change.about}, {"name", change.name}, {"first", change.first}, {"second", change.second}});
  ordered_json clusters = ordered_json::array();
  for (const ClusterChange& change : compared.clusters)
    clusters.push_back({{"name", change.name}, {"same", change.same}, {"agreement", number(change.agreement)}});
  const std::vector<HeadName> names = heads_of(compared.grid);
  for (const Index row : compared.order()) {
    const auto i = static_cast<std::size_t>(row);
    ordered_json measures = ordered_json::object(), words = ordered_json::object();
    for (const MeasureChange& measure : compared.measures)
      measures[measure.name] = {{"unit", measure.unit},
                                {"first", number(measure.first[row])},
                                {"second", number(measure.second[row])},
                                {"difference", number(measure.second[row] - measure.first[row])},
                                {"lower", number(measure.lower[row])},
                                {"upper", number(measure.upper[row])},
                                {"verdict", verdict_text(measure.verdict[i])}};
    for (const WordChange& word : compared.words)
      words[word.name] = {{"first", word.first[i]}, {"second", word.second[i]}};
    heads.push_back({{"head", head_name(names[i].layer, names[i].head)},
                     {"layer", names[i].layer},
                     {"index", names[i].head},
                     {"changed", compared.beyond(row)},
                     {"profile_offset", number(compared.profile_offset[row])},
                     {"measures", std::move(measures)},
                     {"words", std::move(words)}});
  }
  return {{"path", second.string()},
          {"changed", compared.beyond()},
          {"level", compared.options.level},
          {"draws", compared.options.draws},
          {"seed", compared.options.seed},
          {"paired", compared.paired},
          {"documents", {compared.first_documents, compared.second_documents}},
          {"compared_documents", compared.compared_documents},
          {"block", compared.block},
          {"blocks", {compared.first_blocks, compared.second_blocks}},
          {"untested", compared.untested.empty() ? ordered_json() : ordered_json(compared.untested)},
          {"provenance", std::move(differs)},
          {"clusters", std::move(clusters)},
          {"heads", std::move(heads)}};
}

ordered_json json_of(const CompareCommand& command, ordered_json others) {
  return {{"version", compare_json_version}, {"first", command.paths[0].string()}, {"others", std::move(others)}};
}

std::string text_of(const ordered_json& json) {
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

void print(const Comparison& compared, const Result& result, const CompareCommand& command, const fs::path& second) {
  fmt::print("{} against {}\n", visible_text(command.paths[0].string()), visible_text(second.string()));
  fmt::print("{}\n", wrapped_text(how_comparable(compared)));
  for (const std::string& setting : other_settings(result)) fmt::print("  other {}\n", setting);
  const std::string blocks = compared.paired
                                 ? fmt::format("{} pairs of blocks", compared.first_blocks)
                                 : fmt::format("{} and {} blocks", compared.first_blocks, compared.second_blocks);
  const std::string decided = compared.untested.empty() ? fmt::format(", decided by {} of documents", blocks) : "";
  fmt::print("{}\n", wrapped_text(comparison_sentence(result) + decided));
  if (const std::string verdicts = changed_verdicts(result); !verdicts.empty())
    fmt::print("{}\n", wrapped_text(verdicts));
  for (const ClusterChange& change : compared.clusters)
    fmt::print("{}: {} of {} heads in the same cluster, adjusted Rand index {:.2f}\n", change.name, change.same,
               compared.grid.rows(), change.agreement);
  const std::vector<TableColumn> columns =
      command.wide ? comparison_columns(result, command.all) : short_comparison(result, command.all);
  if (columns.front().cells.empty()) return;
  fmt::print("\n{}", terminal_table(columns));
  if (command.wide) fmt::print("\n{}\n", wrapped_text(comparison_note(result)));
}

/// A folder for each comparison: the one asked for, or 1, 2, ... inside it where there are several.
std::vector<std::unique_ptr<OutputFolder>> opened_folders(const CompareCommand& command) {
  std::vector<std::unique_ptr<OutputFolder>> folders;
  if (command.folder.folder.empty()) return folders;
  std::vector<fs::path> read;
  for (const fs::path& path : command.paths) read.push_back(result_path(path));
  for (std::size_t i = 1; i < command.paths.size(); ++i) {
    FolderOptions options = command.folder;
    if (command.paths.size() > 2) options.folder /= fmt::format("{}", i);
    folders.emplace_back(new OutputFolder(opened_folder(options, read, {"changes.json"})));
  }
  return folders;
}

int compare(const CompareCommand& command) {
  const auto folders = opened_folders(command);
  const auto read = [](const fs::path& path) { return read_result(Hdf5File(result_path(path)), compared_fields()); };
  const Result first = read(command.paths[0]);
  std::vector<Comparison> found;  // all of them before anything is printed: an error leaves nothing half said
  for (std::size_t i = 1; i < command.paths.size(); ++i)
    found.push_back(comparison(first, read(command.paths[i]), {command.paths[0].string(), command.paths[i].string()},
                               command.options));
  ordered_json others = ordered_json::array();
  int code = done;
  std::vector<std::vector<KindResult>> results;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (found[i].beyond()) code = different;
    others.push_back(json_of(found[i], command.paths[i + 1]));
    results.emplace_back();
    results.back().push_back(
        {AttentionKind::self, result_of(found[i], command.paths[0].string(), command.paths[i + 1].string())});
  }
  std::vector<FolderContent> contents;  // all of them at once: none is new beside an earlier one
  for (std::size_t i = 0; i < folders.size(); ++i)
    contents.push_back(
        {*folders[i], results[i], {{"changes.json", text_of(json_of(command, ordered_json::array({others[i]})))}}});
  if (!contents.empty()) write_results(contents);
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto say_it = [&] {
      if (!command.json) print(found[i], results[i].front().result, command, command.paths[i + 1]);
    };
    if (folders.empty()) {
      say_it();
      continue;
    }
    try_to_print(say_it);
    write_figures(*folders[i], results[i], command.folder);
  }
  if (command.json) std::fputs(text_of(json_of(command, std::move(others))).c_str(), stdout);
  return code;
}

}  // namespace

void add_compare(CLI::App& program, Command& chosen) {
  auto options = std::make_shared<CompareCommand>();
  CLI::App* command = program.add_subcommand("compare",
                                             "compare results head by head: which changed, by how much, and whether "
                                             "beyond the intervals; exits with 3 where one did");
  command->add_option("result", options->paths, "results.h5 of earlier runs, or their folders; each against the first")
      ->required()
      ->expected(2, 1000)
      ->type_name("A B ...");
  command->add_flag("--all", options->all, "show every head, not only those that changed");
  command->add_flag("--wide", options->wide,
                    "show every measure that both results have, with a star beyond its interval");
  command->add_flag("--json", options->json, "print JSON, versioned, for other programs (docs/compare-json.md)");
  add_folder_options(*command, options->folder, false, {.heads = true, .maps = false, .profiles = false});
  command->get_option("--heads")
      ->description("heads to draw in figures of single heads, L2H3,L7H8 (layers and heads count from 0)")
      ->check([](const std::string& text) {
        return strongest_count(text) ? "a comparison begins with the heads that changed; name heads, L2H3" : "";
      });
  for (const char* name :
       {"--force", "--no-figures", "--heads", "--formats", "--figure-width", "--font", "--font-size", "--palette"})
    command->get_option(name)->needs("--out");
  command->add_option("--level", options->options.level, "chance that any head is called changed although none is")
      ->check(real_number(1e-6, 0.5))
      ->capture_default_str();
  command->add_option("--draws", options->options.draws, "assignments of blocks of documents for the test")
      ->check(whole_number(1, 1000000))
      ->capture_default_str();
  command
      ->add_option("--block", options->options.block,
                   "documents in a row that form a block, since neighbours are alike; 0: as many as the level allows")
      ->check(whole_number(0, 1000000))
      ->capture_default_str();
  command->add_option("--seed", options->options.seed, "seed of the assignments")
      ->check(not_negative())
      ->capture_default_str();
  command->add_option("--threads", options->options.threads, "number of threads, 0: one per core; changes no digit")
      ->check(whole_number(0, 1024))
      ->capture_default_str();
  add_examples(*command, {{"compare result changed", "what an intervention changed, head by head"},
                          {"compare result changed --json > changes.json", "the same, every head, for another program"},
                          {"compare result changed --out changes",
                           "changes.json, results.h5, a figure of heads and measures, and a page"},
                          {"compare step1 step2 step3 --all", "checkpoints, each against the first, with every head"}});
  command->final_callback([=, &chosen] { chosen = [=] { return compare(*options); }; });
}

}  // namespace headwave::cli
