#include <filesystem>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "../../data/results/result_file.h"
#include "../../reports/drawing/gnuplot.h"
#include "../../reports/figures/chosen_heads.h"
#include "../../reports/figures/written_files.h"
#include "../../reports/page/summary.h"
#include "../options/help.h"
#include "../results/result_folder.h"
#include "../terminal/terminal.h"
#include "commands.h"

namespace headwave::cli {

namespace {

struct FiguresOptions {
  std::filesystem::path result;
  std::filesystem::path folder;
  FigureOptions drawing;
};

/// The result that a path names: the file, or the one in the folder.
std::filesystem::path result_of(const std::filesystem::path& path) {
  if (std::error_code ignored; !std::filesystem::is_directory(path, ignored)) return path;
  std::filesystem::path file = path / "results.h5";
  if (std::filesystem::exists(file)) return file;
  std::string inner;
  for (const std::filesystem::path& kind : kind_folders(path)) inner += (inner.empty() ? "" : ", ") + kind.string();
  if (inner.empty()) throw IoError(fmt::format("{}: holds no results.h5", path.string()));
  throw IoError(fmt::format("{}: holds a result for each kind of attention; name one of {}", path.string(), inner));
}

int figures(const CLI::App& command, const FiguresOptions& options) {
  require_gnuplot();
  const std::filesystem::path file = result_of(options.result);
  const Result result = read_result(file);
  require_heads(result, options.drawing.heads);
  say_fewer_map_tokens(command, result, options.drawing);
  // Figures may be drawn again, and the result beside them stays.
  OutputFolder folder(options.folder.empty() ? file.parent_path() : options.folder, {{}, {"summary.html"}}, true);
  const auto files = draw_figures(result, folder.inside("figures"), options.drawing, figure_progress);
  write_summary(result, files, folder.path() / "summary.html");
  say(fmt::format("wrote {} files to {}, and {}", files.size(), (folder.path() / "figures").string(),
                  (folder.path() / "summary.html").string()));
  return done;
}

}  // namespace

void add_figures(CLI::App& program, Command& chosen) {
  auto options = std::make_shared<FiguresOptions>();
  CLI::App* command = program.add_subcommand(
      "figures", "draw the figures of a result again: other heads, widths, letters, colours or formats");
  command->add_option("result", options->result, "results.h5 of an earlier run, or its folder")
      ->required()
      ->type_name("PATH");
  command->add_option("--out", options->folder, "folder for figures/ and summary.html; default: the result's own")
      ->type_name("DIR");
  add_drawing_options(*command, options->drawing);
  add_examples(*command, {{"figures result/results.h5 --heads L0H2,L1H3",
                           "the same figures, with waves, maps and phases of these heads"},
                          {"figures result/results.h5 --figure-width column --formats pdf --out paper",
                           "as broad as a journal's column, in another folder"}});
  command->final_callback([=, &chosen] { chosen = [=] { return figures(*command, *options); }; });
}

}  // namespace headwave::cli
