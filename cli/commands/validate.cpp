#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "../../core/numbers/error.h"
#include "../../data/hdf5/hdf5_file.h"
#include "../../data/results/result_check.h"
#include "../../reports/drawing/run_mark.h"
#include "../../reports/drawing/visible_text.h"
#include "../../reports/figures/written_files.h"
#include "../options/help.h"
#include "../results/result_path.h"
#include "../terminal/terminal.h"
#include "commands.h"

namespace headwave::cli {

namespace {

namespace fs = std::filesystem;

/// A line for each page or figure beside a result that was drawn from another one.
bool has_own_drawings(const fs::path& file) {
  const std::string mark = run_mark(Hdf5File(file).attributes("/provenance"));
  if (mark.empty() || file.filename() != "results.h5") return true;
  const auto drawings = drawings_in(file.parent_path());
  const auto of_another = [&](const Drawing& drawing) { return drawing.is_ours() && !drawing.is_of(mark); };
  for (const Drawing& drawing : drawings)
    if (of_another(drawing))
      fmt::print(
          "{}: was drawn from another result than {}: its {} differs; `headwave run --resume`, or `headwave figures` "
          "and "
          "`headwave report` with --force, draw it again\n",
          visible_text(drawing.files.front().string()), visible_text(file.string()), run_mark_name);
  return std::ranges::none_of(drawings, of_another);
}

/// A line for each file, and one for everything that is wrong in it.
/// @returns whether it is as it was written
bool is_valid(const fs::path& file) {
  try {
    const ResultCheck check = check_result(Hdf5File(result_path(file)));
    for (const std::string& problem : check.problems)
      fmt::print("{}: {}\n", visible_text(file.string()), visible_text(problem));
    if (!check.problems.empty() || !has_own_drawings(result_path(file))) return false;
    fmt::print("{}: whole; schema {}, {} arrays{}, {}\n", visible_text(file.string()), check.schema_version,
               check.arrays, check.has_attribute_digests ? " and all attributes" : "",
               check.digests > 0 ? "as their digests say" : "which had no digests yet");
    return true;
  } catch (const Error& problem) {
    fmt::print("{}\n", visible_text(problem.what()));
    return false;
  }
}

int validate(const std::vector<fs::path>& paths) {
  int code = done;
  for (const fs::path& path : paths) {
    const auto files = result_files(path);
    if (files.empty() && !is_valid(path)) code = different;
    for (const auto& [kind, file] : files)
      if (!is_valid(file)) code = different;
  }
  return code;
}

}  // namespace

void add_validate(CLI::App& program, Command& chosen) {
  auto paths = std::make_shared<std::vector<fs::path>>();
  CLI::App* command = program.add_subcommand("validate",
                                             "whether results are whole, every array and attribute is what was "
                                             "written, and page and figures are theirs; exits "
                                             "with 3 where one is not");
  command->add_option("path", *paths, "results.h5 of earlier runs, or their folders")->required()->type_name("PATH");
  add_examples(*command, {{"validate result", "every array of a result, and all attributes, against their digests"},
                          {"validate result/results.h5 -q && echo whole", "for scripts: the exit code says it"}});
  command->final_callback([=, &chosen] { chosen = [=] { return validate(*paths); }; });
}

}  // namespace headwave::cli
