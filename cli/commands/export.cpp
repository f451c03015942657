#include <cstdint>
#include <filesystem>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "../../data/results/result_file.h"
#include "../../reports/drawing/visible_text.h"
#include "../../reports/tables/exported_tables.h"
#include "../options/help.h"
#include "../options/option_row.h"
#include "../options/values.h"
#include "../results/output_folder.h"
#include "../results/result_path.h"
#include "../terminal/terminal.h"
#include "commands.h"

namespace headwave::cli {

namespace {

namespace fs = std::filesystem;

struct ExportOptions {
  fs::path result;
  fs::path folder;
  std::vector<std::string> only;  ///< groups; empty: all
  std::int64_t max_rows = 50'000;
  bool force = false;
};

/// Removes the tables that are too long, where nobody asked for one.
/// @returns their names, separated by commas
std::string keep_short(std::vector<FieldTable>& tables, const ExportOptions& options) {
  std::string left_out;
  if (!options.only.empty()) return left_out;
  for (const std::string& name : remove_long_tables(tables, options.max_rows))
    left_out += (left_out.empty() ? "" : ", ") + visible_text(name);
  return left_out;
}

int export_tables(const ExportOptions& options) {
  const fs::path file = result_path(options.result);
  Result result = read_result(file);
  const DataTable heads = options.only.empty() ? head_rows(result) : DataTable({});
  keep_groups(result, options.only, file.string());
  std::vector<FieldTable> tables = field_tables(result);
  const std::string left_out = keep_short(tables, options);
  OutputFiles names;
  names.option = "--csv";
  names.written = table_files(tables, heads);
  names.read = {file};
  const OutputFolder folder(options.folder, names, options.force);
  write_tables(tables, heads, folder.path(), [&] { folder.require_free(); });
  say(fmt::format("wrote {}{} tables and {} to {}", heads.columns().empty() ? "" : "heads.csv, ", tables.size(),
                  columns_file, visible_text(folder.path().string())));
  if (!left_out.empty())
    say(fmt::format("omitted, with more than --max-rows {}: {}; --only names those to write, or give more rows",
                    options.max_rows, left_out));
  return done;
}

}  // namespace

void add_export(CLI::App& program, Command& chosen) {
  auto options = std::make_shared<ExportOptions>();
  CLI::App* command =
      program.add_subcommand("export", "write the numbers of a result as CSV, for pandas, R and others");
  const OptionRows row(*command);
  row("result", options->result, "PATH", "results.h5 of an earlier run, or its folder")->required();
  row("--csv", options->folder, "DIR",
      "folder for heads.csv, a row for each head; a table for each group of arrays; and all-columns.csv, which "
      "describes these")
      ->required();
  row("--only", options->only, "GROUP,...",
      "groups to export, measured_offset,head_account; `headwave inspect` lists the groups")
      ->delimiter(',');
  row("--max-rows", options->max_rows, nullptr,
      "rows of a table at most: longer tables are omitted, but those that --only names never are",
      whole_number(1, 1'000'000'000'000))
      ->capture_default_str();
  row("--force", options->force, nullptr, "replace existing tables");
  add_examples(*command, {{"export result/results.h5 --csv tables",
                           "heads.csv with a row for each head, and a table for each group of arrays that share axes"},
                          {"export result --csv tables --only measured_offset,head_account",
                           "where each head looks, and what accounts for it"}});
  command->final_callback([=, &chosen] { chosen = [=] { return export_tables(*options); }; });
}

}  // namespace headwave::cli
