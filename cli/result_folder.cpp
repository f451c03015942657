#include "headwave/cli/result_folder.h"

#include <cstdio>

#include <fmt/format.h>

#include "headwave/cli/progress.h"
#include "headwave/cli/provenance.h"
#include "headwave/cli/terminal.h"
#include "headwave/cli/values.h"
#include "headwave/data/replaced_file.h"
#include "headwave/data/result_file.h"
#include "headwave/reports/head_table.h"
#include "headwave/reports/summary.h"

namespace headwave::cli {

void add_folder_options(CLI::App& command, FolderOptions& options, bool required, const DrawnHere& drawn) {
  command.add_option("--out", options.folder, "folder for results.h5, figures/ and summary.html")
      ->required(required)
      ->type_name("DIR");
  command.add_flag("--force", options.force, "replace a result that is already there");
  command.add_flag("!--no-figures", options.figures, "write no figures and no summary page");
  add_drawing_options(command, options.drawing, drawn);
}

void add_drawing_options(CLI::App& command, FigureOptions& options, const DrawnHere& drawn) {
  const char* group = "Figures";
  if (drawn.heads)
    command
        .add_option("--heads", options.heads,
                    "heads that figures of single heads show: L2H3,L7H8 (layers and heads count from 0)")
        ->delimiter(',')
        ->type_name("HEADS")
        ->group(group);
  if (drawn.maps)
    command.add_option("--map-tokens", options.tokens, "first tokens that attention maps show")
        ->check(whole_number(1, 64))
        ->capture_default_str()
        ->group(group);
  command.add_option("--formats", options.formats, "formats of figures, separated by commas; without it all")
      ->delimiter(',')
      ->check(one_of({"pdf", "svg", "png"}))
      ->type_name("LIST")
      ->group(group);
  if (drawn.profiles)
    command.add_option("--pairs", options.pairs, "query-key pairs that offset profiles count")
        ->check(one_of({"all", "without_special", "without_sink"}))
        ->capture_default_str()
        ->type_name("PAIRS")
        ->group(group);
}

void say_fewer_map_tokens(const CLI::App& command, const Result& result, const FigureOptions& options) {
  const Field* map = result.find("attention_map/weight");
  if (map == nullptr || command.count("--map-tokens") == 0) return;
  const Index kept = map->axis("query").size();
  if (kept < options.tokens)
    say(fmt::format("the result keeps maps of the first {} tokens, --map-tokens {} shows those", kept, options.tokens));
}

void figure_progress(const std::string& name, std::size_t number, std::size_t count) {
  progress_at("figure " + name, static_cast<Index>(number) - 1, static_cast<Index>(count));
}

void require_free(const FolderOptions& options) {
  const std::filesystem::path file = options.folder / "results.h5";
  if (!options.force && std::filesystem::exists(file))
    throw IoError(
        fmt::format("{}: a result is already there; choose another --out, or replace it with --force", file.string()));
  make_folder(options.folder);
}

void write_folder(Result& result, const FolderOptions& options, double seconds) {
  end_progress();
  std::fputs(head_table(result).c_str(), stdout);
  std::fflush(stdout);
  write_files(result, options, seconds);
}

void write_files(Result& result, const FolderOptions& options, double seconds) {
  add_program(result.provenance, seconds);
  const std::filesystem::path file = options.folder / "results.h5";
  progress_at("writing " + file.filename().string());
  write_result(result, file);
  if (options.figures) {
    const auto figures = draw_figures(result, options.folder / "figures", options.drawing, figure_progress);
    write_summary(result, figures, options.folder / "summary.html");
    say(fmt::format("wrote {}, {} files of figures, and {}", file.string(), figures.size(),
                    (options.folder / "summary.html").string()));
  } else {
    say(fmt::format("wrote {}", file.string()));
  }
}

}  // namespace headwave::cli
