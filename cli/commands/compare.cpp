#include <cmath>
#include <filesystem>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "../../core/fields/head_name.h"
#include "../../data/hdf5/hdf5_file.h"
#include "../../data/results/result_file.h"
#include "../../job/studies/comparison.h"
#include "../../reports/drawing/terminal_table.h"
#include "../../reports/drawing/visible_text.h"
#include "../options/help.h"
#include "../options/values.h"
#include "../results/result_path.h"
#include "../terminal/terminal.h"
#include "commands.h"

namespace headwave::cli {

namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

/// Version of what --json prints, docs/compare-json.md; a key may be added within a version, none removed or changed.
constexpr int compare_json_version = 1;

struct CompareCommand {
  std::vector<fs::path> paths;
  ComparisonOptions options;
  bool all = false;
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
          {"untested", compared.untested.empty() ? ordered_json() : ordered_json(compared.untested)},
          {"provenance", std::move(differs)},
          {"heads", std::move(heads)}};
}

std::string number_text(double value, const std::string& unit) {
  if (std::isnan(value)) return "-";
  if (unit != "token") return fmt::format("{:.3f}", value);
  return value == 0 ? "0" : value == std::round(value) ? fmt::format("{:+.0f}", value) : fmt::format("{:+.1f}", value);
}

/// "-1 > +1 *": the star is beyond the interval; one number where both show the same.
std::string change_text(const MeasureChange& measure, Index row) {
  const std::string one = number_text(measure.first[row], measure.unit),
                    other = number_text(measure.second[row], measure.unit);
  const bool beyond = measure.verdict[static_cast<std::size_t>(row)] == ChangeVerdict::beyond;
  return (one == other && !beyond ? one : one + " > " + other) + (beyond ? " *" : "");
}

void print_table(const Comparison& compared, bool all) {
  const std::vector<HeadName> names = heads_of(compared.grid);
  std::vector<Index> rows = compared.order();
  if (!all) std::erase_if(rows, [&](Index row) { return !compared.beyond(row); });
  std::vector<TableColumn> columns{{"head", Align::left, {}}};
  for (const Index row : rows) {
    const HeadName& name = names[static_cast<std::size_t>(row)];
    columns[0].cells.push_back(head_name(name.layer, name.head));
  }
  const auto add = [&](const std::string& header, const auto& cell_of) {
    columns.push_back({header, Align::left, {}});
    for (const Index row : rows) columns.back().cells.push_back(cell_of(row));
  };
  for (const MeasureChange& measure : compared.measures) {
    if (measure.name == "profile")
      add("at", [&](Index row) { return number_text(compared.profile_offset[row], "token"); });
    add(measure.name, [&](Index row) { return change_text(measure, row); });
  }
  for (const WordChange& word : compared.words)
    add(word.name, [&](Index row) {
      const auto i = static_cast<std::size_t>(row);
      return word.first[i] == word.second[i] ? word.first[i] : word.first[i] + " > " + word.second[i];
    });
  if (!rows.empty()) fmt::print("\n{}", terminal_table(columns));
}

void print(const Comparison& compared, const CompareCommand& command, const fs::path& second) {
  fmt::print("{} against {}\n", visible_text(command.paths[0].string()), visible_text(second.string()));
  for (const ProvenanceChange& change : compared.provenance)
    fmt::print("  other {}: {}: {} > {}\n", change.about, visible_text(change.name),
               shortened(visible_text(change.first), 60), shortened(visible_text(change.second), 60));
  if (!compared.untested.empty())
    fmt::print("  no document decides: {}\n", compared.untested);
  else if (compared.paired)
    fmt::print("  {} documents, the same in both\n", compared.first_documents);
  else
    fmt::print("  {} documents against {} others\n", compared.first_documents, compared.second_documents);
  Index changed = 0;
  for (Index row = 0; row < compared.grid.rows(); ++row) changed += compared.beyond(row) ? 1 : 0;
  fmt::print("  {} of {} heads changed beyond the intervals (*, chance of any by itself {})\n", changed,
             compared.grid.rows(), compared.options.level);
  print_table(compared, command.all);
}

int compare(const CompareCommand& command) {
  const auto read = [](const fs::path& path) { return read_result(Hdf5File(result_path(path)), compared_fields()); };
  const Result first = read(command.paths[0]);
  ordered_json others = ordered_json::array();
  int code = done;
  std::vector<Comparison> found;  // all of them before anything is printed: an error leaves nothing half said
  for (std::size_t i = 1; i < command.paths.size(); ++i)
    found.push_back(comparison(first, read(command.paths[i]), {command.paths[0].string(), command.paths[i].string()},
                               command.options));
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (found[i].beyond()) code = different;
    if (command.json)
      others.push_back(json_of(found[i], command.paths[i + 1]));
    else
      print(found[i], command, command.paths[i + 1]);
  }
  if (command.json)
    fmt::print(
        "{}\n",
        ordered_json{{"version", compare_json_version}, {"first", command.paths[0].string()}, {"others", others}}.dump(
            2, ' ', false, ordered_json::error_handler_t::replace));
  return code;
}

}  // namespace

void add_compare(CLI::App& program, Command& chosen) {
  auto options = std::make_shared<CompareCommand>();
  CLI::App* command = program.add_subcommand(
      "compare",
      "which heads changed between results, by how much, and whether beyond the intervals; exits with 3 where one did");
  command->add_option("result", options->paths, "results.h5 of earlier runs, or their folders; each against the first")
      ->required()
      ->expected(2, 1000)
      ->type_name("A B ...");
  command->add_flag("--all", options->all, "show every head, not only those that changed");
  command->add_flag("--json", options->json, "print JSON, versioned, for other programs (docs/compare-json.md)");
  command->add_option("--level", options->options.level, "chance that any head is called changed where none is")
      ->check(real_number(1e-6, 0.5))
      ->capture_default_str();
  command->add_option("--draws", options->options.draws, "assignments of documents that decide")
      ->check(whole_number(1, 1000000))
      ->capture_default_str();
  command->add_option("--seed", options->options.seed, "seed of these")->check(not_negative())->capture_default_str();
  command->add_option("--threads", options->options.threads, "0: one per core; changes no digit")
      ->check(whole_number(0, 1024))
      ->capture_default_str();
  add_examples(*command,
               {{"compare result re-aimed", "what an intervention changed, head by head"},
                {"compare result re-aimed --json > changes.json", "the same, every head, for another program"},
                {"compare step1 step2 step3 --all", "checkpoints, each against the first, with every head"}});
  command->final_callback([=, &chosen] { chosen = [=] { return compare(*options); }; });
}

}  // namespace headwave::cli
