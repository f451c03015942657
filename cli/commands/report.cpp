#include "../../reports/page/report.h"

#include <filesystem>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../../data/results/result_file.h"
#include "../../reports/drawing/visible_text.h"
#include "../../reports/page/map_beside.h"
#include "../options/help.h"
#include "../options/option_row.h"
#include "../results/output_folder.h"
#include "../results/result_path.h"
#include "../terminal/terminal.h"
#include "commands.h"

namespace headwave::cli {

namespace {

namespace fs = std::filesystem;

struct ReportOptions {
  fs::path result;
  fs::path page;
  std::vector<fs::path> beside;  ///< results of other texts
  bool force = false;
};

int report(const ReportOptions& options) {
  const fs::path file = result_path(options.result);
  const Result result = read_result(file);
  std::vector<Result> beside;
  std::vector<fs::path> read{file};
  for (const fs::path& path : options.beside) {
    read.push_back(result_path(path));
    beside.push_back(read_result(read.back()));
    require_map_beside(beside.back(), result, read.back().string());
  }
  const fs::path page = options.page.empty() ? file.parent_path() / "report.html" : options.page;
  if (std::error_code ignored; fs::is_directory(page, ignored) || !page.has_filename())
    throw IoError(fmt::format("{}: is a folder; --out names the page itself, DIR/report.html", page.string()));
  OutputFiles files{{page.filename()}};
  files.read = read;
  OutputFolder folder(page.has_parent_path() ? page.parent_path() : fs::path("."), files, options.force);
  write_report(result, page, beside);
  say(fmt::format("wrote {}", visible_text(page.string())));
  return done;
}

}  // namespace

void add_report(CLI::App& program, Command& chosen) {
  auto options = std::make_shared<ReportOptions>();
  CLI::App* command = program.add_subcommand("report", "make the page of a result again, from its file alone");
  const OptionRows row(*command);
  row("result", options->result, "PATH", "results.h5 of an earlier run, or its folder")->required();
  row("--out", options->page, "FILE", "the page; default: report.html beside the result");
  row("--beside", options->beside, "PATH ...",
      "results of other texts of the same model, a sentence of yours say: the page shows their attention maps too",
      CLI::ExistingPath);
  row("--force", options->force, nullptr, "replace a page that is already there");
  add_examples(*command, {{"report result/results.h5 --out minilm.html",
                           "one file to send: it opens in a browser, without network and without the result"},
                          {"report result --beside sentence --out minilm.html",
                           "with the attention map of a sentence, of `run --text \"...\" --only attention_map --out "
                           "sentence`"}});
  command->final_callback([=, &chosen] { chosen = [=] { return report(*options); }; });
}

}  // namespace headwave::cli
