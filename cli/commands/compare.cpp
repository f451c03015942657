#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "../../core/fields/field_reader.h"
#include "../../data/files/replaced_file.h"
#include "../../data/hdf5/hdf5_file.h"
#include "../../data/results/result_file.h"
#include "../../job/studies/comparison.h"
#include "../../reports/drawing/terminal_table.h"
#include "../../reports/drawing/visible_text.h"
#include "../../reports/tables/comparison_table.h"
#include "../options/help.h"
#include "../options/option_row.h"
#include "../options/values.h"
#include "../results/output_folder.h"
#include "../results/result_folder.h"
#include "../results/result_path.h"
#include "../terminal/terminal.h"
#include "commands.h"

namespace headwave::cli {

namespace {

namespace fs = std::filesystem;

struct CompareCommand {
  std::vector<fs::path> paths;
  ComparisonOptions options;
  FolderOptions folder;
  bool all = false, wide = false;
};

void print(const Result& result, const CompareCommand& command) {
  const auto said = [&](const char* name) { return visible_text(attribute_text(result.provenance, name)); };
  fmt::print("{} against {}\n", said("first"), said("second"));
  fmt::print("{}\n", wrapped_text(said("comparable")));
  for (const std::string& setting : other_settings(result)) fmt::print("  other {}\n", setting);
  const std::string by = said("decided_by");
  fmt::print("{}\n", wrapped_text(comparison_sentence(result) + (by.empty() ? "" : ", decided by " + by)));
  const std::vector<TableColumn> columns = comparison_columns(result, command.all, command.wide);
  if (columns.front().cells.empty()) return;
  fmt::print("\n{}", terminal_table(columns));
  if (command.wide) fmt::print("\n{}\n", wrapped_text(comparison_note(result)));
}

/// A folder for each comparison: the one asked for, or 1, 2, ... inside it if there are several.
std::vector<std::unique_ptr<OutputFolder>> opened_folders(const CompareCommand& command) {
  std::vector<std::unique_ptr<OutputFolder>> folders;
  if (command.folder.folder.empty()) return folders;
  std::vector<fs::path> read;
  for (const fs::path& path : command.paths) read.push_back(result_path(path));
  for (std::size_t i = 1; i < command.paths.size(); ++i) {
    FolderOptions options = command.folder;
    if (command.paths.size() > 2) options.folder /= fmt::format("{}", i);
    folders.emplace_back(new OutputFolder(opened_folder(options, read)));
  }
  return folders;
}

int compare(const CompareCommand& command) {
  const auto folders = opened_folders(command);
  const auto read = [](const fs::path& path) { return read_result(Hdf5File(result_path(path)), compared_fields()); };
  const Result first = read(command.paths[0]);
  std::vector<Result> found;  // all before anything is printed: an error leaves no half answer
  for (std::size_t i = 1; i < command.paths.size(); ++i)
    found.push_back(comparison(first, read(command.paths[i]), {command.paths[0].string(), command.paths[i].string()},
                               command.options));
  int code = done;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (std::ranges::count(flags_of(found[i], "comparison/changed", {"layer", "head"}), 1) > 0) code = different;
    const auto print_it = [&] { print(found[i], command); };
    if (folders.empty()) {
      print_it();
      continue;
    }
    std::vector<KindResult> results{{AttentionKind::self, found[i]}};
    write_results(*folders[i], results);
    show_results(*folders[i], results, command.folder, print_it);
  }
  return code;
}

}  // namespace

void add_compare(CLI::App& program, Command& chosen) {
  auto options = std::make_shared<CompareCommand>();
  CLI::App* command = program.add_subcommand("compare", "compare results head by head; exits with 3 if a head changed");
  command->add_option("result", options->paths, "results or their folders; each is compared with the first")
      ->required()
      ->expected(2, 1000)
      ->type_name("A B ...");
  const OptionRows row(*command);
  row("--all", options->all, nullptr, "show every head, not only those that changed");
  row("--wide", options->wide, nullptr, "show every measure; a star marks a difference whose interval excludes 0");
  add_folder_options(*command, options->folder, false);
  for (const char* name : {"--force", "--no-figures"}) command->get_option(name)->needs("--out");
  ComparisonOptions& test = options->options;
  row("--level", test.level, nullptr,
      "significance level: chance that any head is reported as changed although none changed", real_number(1e-6, 0.5))
      ->capture_default_str();
  row("--draws", test.draws, nullptr, "number of random reassignments of documents to the results, for the test",
      whole_number(1, 1000000))
      ->capture_default_str();
  row("--block", test.block, nullptr,
      "number of neighbouring documents that the test reassigns together; 0: as many as the level allows",
      whole_number(0, 1000000))
      ->capture_default_str();
  row("--seed", test.seed, nullptr, "seed of all random numbers", not_negative())->capture_default_str();
  row("--threads", test.threads, nullptr, "number of threads; 0: one per core; results are identical",
      whole_number(0, 1024))
      ->capture_default_str();
  add_examples(*command, {{"compare result changed", "what an intervention changed, head by head"},
                          {"compare result changed --out changes", "the same, as a file and a page"},
                          {"compare step1 step2 step3 --all", "checkpoints against the first, every head"}});
  command->final_callback([=, &chosen] { chosen = [=] { return compare(*options); }; });
}

}  // namespace headwave::cli
