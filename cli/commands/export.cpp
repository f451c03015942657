#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "../../core/errors/error.h"
#include "../../data/files/replaced_file.h"
#include "../../data/results/result_file.h"
#include "../../reports/drawing/data_table.h"
#include "../../reports/drawing/visible_text.h"
#include "../../reports/tables/exported_tables.h"
#include "../../reports/tables/run_sentence.h"
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
  fs::path heads;                 ///< a file
  std::vector<std::string> only;  ///< groups; empty: all
  std::int64_t max_rows = 50'000;
  bool force = false;
};

void export_heads(const ExportOptions& options, const Result& result, const fs::path& file) {
  if (std::error_code ignored; fs::is_directory(options.heads, ignored) || !options.heads.has_filename())
    throw IoError(fmt::format("{}: is a folder; --heads takes a file, such as DIR/heads.csv", options.heads.string()));
  const DataTable heads = head_rows(result);
  if (heads.empty())
    throw FormatError(fmt::format("{}: contains neither measured nor predicted offsets of heads, which --heads needs",
                                  file.string()));
  OutputFiles files{{options.heads.filename()}};
  files.option = "--heads";
  files.read = {file};
  const fs::path place = options.heads.has_parent_path() ? options.heads.parent_path() : fs::path(".");
  const OutputFolder folder(place, files, options.force);
  write_text(options.heads, comma_separated(heads));
  say(fmt::format("wrote {} to {}", counted(std::ssize(heads.front().cells), "head"),
                  visible_text(options.heads.string())));
}

int export_tables(const ExportOptions& options) {
  const fs::path file = result_path(options.result);
  const Result result = read_result(file);
  if (!options.heads.empty()) export_heads(options, result, file);
  if (options.folder.empty()) return done;
  const auto most = options.only.empty() ? std::optional<Index>(options.max_rows) : std::nullopt;
  const ExportedTables tables(result, options.only, most, file.string());
  const std::vector<fs::path> files = tables.files();
  const OutputFolder folder(options.folder, {.written = files, .option = "--csv", .read = {file}}, options.force);
  tables.write(folder.path());
  const bool heads = options.only.empty() && std::ranges::count(files, "heads.csv") > 0;
  say(fmt::format("wrote {}{} tables and {} to {}", heads ? "heads.csv, " : "", files.size() - (heads ? 2 : 1),
                  columns_file, visible_text(folder.path().string())));
  if (!tables.left_out().empty())
    say(fmt::format("omitted tables of more than {} rows: {}; name them with --only, or raise --max-rows",
                    options.max_rows, visible_text(fmt::format("{}", fmt::join(tables.left_out(), ", ")))));
  return done;
}

}  // namespace

void add_export(CLI::App& program, Command& chosen) {
  auto options = std::make_shared<ExportOptions>();
  CLI::App* command =
      program.add_subcommand("export", "write the numbers of a result as CSV, for pandas, R and others");
  const OptionRows row(*command);
  row("result", options->result, "PATH", "result file, or its folder")->required();
  row("--csv", options->folder, "DIR",
      "folder for heads.csv, a table for each group of arrays, and all-columns.csv, which describes the columns of the "
      "groups");
  row("--heads", options->heads, "FILE",
      "one CSV file with a row for each head; its columns are the same for every result");
  row("--only", options->only, "GROUP,...", "groups to export, such as measured_offset,head_account")->delimiter(',');
  row("--max-rows", options->max_rows, nullptr, "omit longer tables, unless --only names them",
      whole_number(1, 1'000'000'000'000))
      ->capture_default_str();
  row("--force", options->force, nullptr, "replace existing tables");
  add_examples(*command,
               {{"export result/results.h5 --csv tables", "all numbers"},
                {"export result --heads heads.csv", "rows to join with those of other models"},
                {"export result --csv tables --only measured_offset,head_account", "where each head looks, and why"}});
  command->final_callback([=, &chosen] {
    if (options->folder.empty() && options->heads.empty()) throw CLI::RequiredError("--csv DIR or --heads FILE");
    chosen = [=] { return export_tables(*options); };
  });
}

}  // namespace headwave::cli
