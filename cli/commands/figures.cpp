#include "../../reports/figures/figures.h"

#include <filesystem>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "../../data/results/result_file.h"
#include "../../reports/drawing/gnuplot.h"
#include "../../reports/drawing/visible_text.h"
#include "../../reports/figures/chosen_heads.h"
#include "../options/help.h"
#include "../options/option_row.h"
#include "../results/result_folder.h"
#include "../results/result_path.h"
#include "../terminal/terminal.h"
#include "commands.h"

namespace headwave::cli {

namespace {

namespace fs = std::filesystem;

struct FiguresOptions {
  fs::path result;
  fs::path folder;
  bool force = false;
  FigureOptions drawing;
};

int figures(const FiguresOptions& options) {
  require_gnuplot();
  const fs::path file = result_path(options.result);
  const Result result = read_result(file);
  OutputFiles names;
  const Drawable found = drawable(result, options.drawing);
  for (const FigureKind* kind : found.kinds)
    for (const std::string& name : figure_files(kind->name, options.drawing.formats))
      names.written.push_back(fs::path("figures") / name);
  names.read = {file};
  const OutputFolder folder(options.folder.empty() ? file.parent_path() : options.folder, names, options.force);
  const auto files = draw_figures(result, folder.inside("figures"), options.drawing);
  for (const std::string& line : found.undrawn) say("not drawn, " + line);
  say(fmt::format("wrote {} files to {}", files.size(), visible_text((folder.path() / "figures").string())));
  return done;
}

}  // namespace

void add_figures(CLI::App& program, Command& chosen) {
  auto options = std::make_shared<FiguresOptions>();
  CLI::App* command = program.add_subcommand(
      "figures", "draw the figures of a result again, with other heads, widths, colours or formats");
  const OptionRows row(*command);
  row("result", options->result, "PATH", "result file, or its folder")->required();
  row("--out", options->folder, "DIR", "folder for figures/; default: the result's own");
  row("--force", options->force, nullptr, "replace existing figures");
  row("--only", options->drawing.only, "FIGURES", "figures to draw, by name (docs/figures.md), separated by commas")
      ->delimiter(',');
  add_drawing_options(*command, options->drawing);
  add_examples(*command,
               {{"figures result/results.h5 --heads L0H2,L1H3 --force",
                 "replace the figures; figures of single heads show these two"},
                {"figures result/results.h5 --only offset_profile --figure-width column --formats pdf --out paper",
                 "one figure, as wide as a journal's column"},
                {"figures result/results.h5 --only account_profile --heads strongest:6 --out strongest",
                 "the six strongest heads"}});
  command->final_callback([=, &chosen] { chosen = [=] { return figures(*options); }; });
}

}  // namespace headwave::cli
