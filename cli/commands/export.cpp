#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../../core/errors/nearest_name.h"
#include "../../data/files/printable.h"
#include "../../data/files/replaced_file.h"
#include "../../data/results/result_file.h"
#include "../../reports/drawing/visible_text.h"
#include "../../reports/tables/field_tables.h"
#include "../options/help.h"
#include "../options/values.h"
#include "../results/output_folder.h"
#include "../results/result_path.h"
#include "../terminal/terminal.h"
#include "commands.h"

namespace headwave::cli {

namespace {

namespace fs = std::filesystem;

constexpr const char* columns_file = "all-columns.csv";

struct ExportOptions {
  fs::path result;
  fs::path folder;
  std::vector<std::string> only;  ///< groups; empty: all
  CLI::Option* limit = nullptr;   ///< --max-rows
  std::int64_t max_rows = 50'000;
  bool force = false;
};

/// Leaves the Fields of the groups that were asked for.
void keep_only(Result& result, const std::vector<std::string>& groups, const fs::path& file) {
  if (groups.empty()) return;
  std::vector<std::string> known;
  for (const Field& field : result.fields)
    if (std::ranges::find(known, field.group()) == known.end()) known.push_back(field.group());
  for (const std::string& group : groups)
    if (std::ranges::find(known, group) == known.end())
      throw FormatError(
          fmt::format("{}: --only: it has no '{}'{}", file.string(), printable(group), did_you_mean(group, known)));
  std::erase_if(result.fields,
                [&](const Field& field) { return std::ranges::find(groups, field.group()) == groups.end(); });
}

/// Leaves the tables that are not too long: whoever set a limit and named one is refused instead.
/// @returns names of the others
std::string keep_short(std::vector<FieldTable>& tables, const ExportOptions& options) {
  const bool named = !options.only.empty();
  std::string left_out;
  if (named && options.limit->empty()) return left_out;
  for (const FieldTable& table : tables) {
    if (table.rows() <= options.max_rows) continue;
    if (named)
      throw FormatError(fmt::format("{} would have {} rows, more than --max-rows {}; allow them with that option",
                                    table.name, table.rows(), options.max_rows));
    left_out += (left_out.empty() ? "" : ", ") + visible_text(table.name);
  }
  std::erase_if(tables, [&](const FieldTable& table) { return table.rows() > options.max_rows; });
  return left_out;
}

/// Every file is whole before the first gets its name.
void write_tables(const std::vector<FieldTable>& tables, const OutputFolder& folder) {
  std::vector<std::unique_ptr<ReplacedFile>> files;
  const auto next_file = [&](const std::string& name) -> ReplacedFile& {
    return *files.emplace_back(std::make_unique<ReplacedFile>(folder.path() / name));
  };
  for (const FieldTable& table : tables) {
    ReplacedFile& file = next_file(table.name + ".csv");
    write_csv(table, [&](std::string_view text) { file.write(text); });
  }
  next_file(columns_file).write(comma_separated(column_table(tables)));
  folder.require_free();
  commit_all(files);
}

int export_tables(const ExportOptions& options) {
  const fs::path file = result_path(options.result);
  Result result = read_result(file);
  keep_only(result, options.only, file);
  std::vector<FieldTable> tables = field_tables(result);
  const std::string left_out = keep_short(tables, options);
  OutputFiles names;
  names.option = "--csv";
  names.written.emplace_back(columns_file);
  for (const FieldTable& table : tables) names.written.emplace_back(table.name + ".csv");
  names.read = {file};
  const OutputFolder folder(options.folder, names, options.force);
  write_tables(tables, folder);
  say(fmt::format("wrote {} tables and {} to {}", tables.size(), columns_file, visible_text(folder.path().string())));
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
  command->add_option("result", options->result, "results.h5 of an earlier run, or its folder")
      ->required()
      ->type_name("PATH");
  command->add_option("--csv", options->folder, "folder for the tables and all-columns.csv, which describes them")
      ->required()
      ->type_name("DIR");
  command
      ->add_option("--only", options->only,
                   "groups to export, measured_offset,head_account; `headwave inspect` lists the groups")
      ->delimiter(',')
      ->type_name("GROUP,...");
  options->limit =
      command
          ->add_option(
              "--max-rows", options->max_rows,
              "rows of a table at most; longer tables are omitted. Of tables that --only names: no limit unless "
              "one is given, and longer ones are refused")
          ->check(whole_number(1, 1'000'000'000'000))
          ->capture_default_str();
  command->add_flag("--force", options->force, "replace existing tables");
  add_examples(*command,
               {{"export result/results.h5 --csv tables",
                 "a table for each group of arrays that share axes, a row for each combination of their values"},
                {"export result --csv tables --only measured_offset,head_account",
                 "where each head looks, and what accounts for it"}});
  command->final_callback([=, &chosen] { chosen = [=] { return export_tables(*options); }; });
}

}  // namespace headwave::cli
