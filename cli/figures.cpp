#include <filesystem>
#include <memory>

#include <fmt/format.h>

#include "headwave/cli/commands.h"
#include "headwave/cli/help.h"
#include "headwave/cli/result_folder.h"
#include "headwave/cli/terminal.h"
#include "headwave/data/result_file.h"
#include "headwave/reports/summary.h"

namespace headwave::cli {

namespace {

struct FiguresOptions {
  std::filesystem::path result;
  std::filesystem::path folder;
  FigureOptions drawing;
};

int figures(const CLI::App& command, const FiguresOptions& options) {
  const Result result = read_result(options.result);
  say_fewer_map_tokens(command, result, options.drawing);
  const std::filesystem::path folder = options.folder.empty() ? options.result.parent_path() : options.folder;
  const auto files = draw_figures(result, folder / "figures", options.drawing, figure_progress);
  write_summary(result, files, folder / "summary.html");
  say(fmt::format("wrote {} files to {}, and {}", files.size(), (folder / "figures").string(),
                  (folder / "summary.html").string()));
  return 0;
}

}  // namespace

void add_figures(CLI::App& program, Command& chosen) {
  auto options = std::make_shared<FiguresOptions>();
  CLI::App* command =
      program.add_subcommand("figures", "draw the figures of a result again, with other heads, tokens or formats");
  command->add_option("result", options->result, "results.h5 of an earlier run")->required()->type_name("FILE");
  command->add_option("--out", options->folder, "folder for figures/ and summary.html; default: the result's own")
      ->type_name("DIR");
  add_drawing_options(*command, options->drawing);
  add_examples(*command, {{"figures result/results.h5 --heads L0H2,L1H3",
                           "the same figures, with waves, maps and phases of these heads"},
                          {"figures result/results.h5 --formats svg --out slides", "SVG alone, in another folder"}});
  command->final_callback([=, &chosen] { chosen = [=] { return figures(*command, *options); }; });
}

}  // namespace headwave::cli
