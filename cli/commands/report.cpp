#include "../../reports/page/report.h"

#include <filesystem>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../../data/results/result_file.h"
#include "../../reports/drawing/visible_text.h"
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
  bool force = false;
};

int report(const ReportOptions& options) {
  const fs::path file = result_path(options.result);
  const Result result = read_result(file);
  const fs::path page = options.page.empty() ? file.parent_path() / "report.html" : options.page;
  if (std::error_code ignored; fs::is_directory(page, ignored) || !page.has_filename())
    throw IoError(fmt::format("{}: is a folder; --out takes a file, such as DIR/report.html", page.string()));
  OutputFiles files{{page.filename()}};
  files.read = {file};
  OutputFolder folder(page.has_parent_path() ? page.parent_path() : fs::path("."), files, options.force);
  write_report(result, page);
  say(fmt::format("wrote {}", visible_text(page.string())));
  return done;
}

}  // namespace

void add_report(CLI::App& program, Command& chosen) {
  auto options = std::make_shared<ReportOptions>();
  CLI::App* command = program.add_subcommand("report", "make the page of a result again");
  const OptionRows row(*command);
  row("result", options->result, "PATH", "result file, or its folder")->required();
  row("--out", options->page, "FILE", "the page; default: report.html beside the result");
  row("--force", options->force, nullptr, "replace a page that is already there");
  add_examples(*command, {{"report result/results.h5 --out minilm.html", "one file to send, which any browser opens"}});
  command->final_callback([=, &chosen] { chosen = [=] { return report(*options); }; });
}

}  // namespace headwave::cli
