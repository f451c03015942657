#include "result_folder.h"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <memory>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "../../core/bytes/bytes.h"
#include "../../core/errors/error.h"
#include "../../core/fields/head_name.h"
#include "../../data/files/replaced_file.h"
#include "../../data/results/result_file.h"
#include "../../reports/drawing/gnuplot.h"
#include "../../reports/drawing/visible_text.h"
#include "../../reports/figures/chosen_heads.h"
#include "../../reports/figures/figures.h"
#include "../../reports/page/report.h"
#include "../../reports/tables/head_findings.h"
#include "../../reports/tables/head_sentence.h"
#include "../../reports/tables/head_table.h"
#include "../options/option_row.h"
#include "../options/style_options.h"
#include "../options/values.h"
#include "../terminal/progress.h"
#include "../terminal/terminal.h"

namespace headwave::cli {

namespace {

namespace fs = std::filesystem;

/// The place of a kind's result within the folder.
fs::path place_of(const std::vector<KindResult>& results, AttentionKind kind) {
  return results.size() > 1 ? fs::path(name_of(kind)) : fs::path();
}

}  // namespace

void add_folder_options(CLI::App& command, FolderOptions& options, bool required) {
  const OptionRows row(command);
  row("--out", options.folder, "DIR", "folder for results.h5, figures/ and report.html")->required(required);
  row("--force", options.force, nullptr, "replace a result that is already there");
  row("!--no-figures", options.figures, nullptr, "write no figures and no page");
  options.styles_figures = [&command] { return styles_figures(command); };
}

void add_drawing_options(CLI::App& command, FigureOptions& options, bool of_text) {
  const OptionRows row(command, "Figures");
  if (of_text) {
    row("--heads", options.heads, "HEADS",
        "heads in figures of single heads, such as L2H3,L7H8 (both count from 0) or strongest:6")
        ->delimiter(',');
    row("--map-tokens", options.tokens, nullptr, "number of tokens in attention maps", whole_number(1, 64))
        ->capture_default_str();
  }
  add_style_options(command, options.formats, options.width);
}

void add_table_options(CLI::App& command, HeadTableOptions& options) {
  const OptionRows row(command, "Table");
  const auto unknown = [](std::string& name) {
    return name.find('/') == std::string::npos ? one_of(head_data_columns())(name) : std::string();
  };
  for (CLI::Option* option :
       {row("--all", options.all, nullptr, "show every head, not only the ten strongest"),
        row("--wide", options.wide, nullptr, "show every column"),
        row("--sort", options.sort, "COLUMN", "sort heads by a column of `inspect --csv`, such as bits or offset",
            CLI::Validator(unknown, "", "column"))})
    option->configurable(false);
}

namespace {

/// All files that may be written into the folder: results, pages and all figures, for each kind of attention.
OutputFiles output_files(const FolderOptions& options, const std::vector<fs::path>& read) {
  OutputFiles files;
  files.read = read;
  std::vector<fs::path> places{""};
  for (const AttentionKind kind : {AttentionKind::self, AttentionKind::causal, AttentionKind::cross})
    places.emplace_back(name_of(kind));
  for (const fs::path& place : places) {
    files.written.push_back(place / "results.h5");
    if (!options.figures) continue;
    files.written.push_back(place / "report.html");
    for (const FigureKind& kind : figure_kinds())
      for (const std::string& name : figure_files(kind.name, options.drawing.formats))
        files.written.push_back(place / "figures" / name);
  }
  return files;
}

/// @throws IoError if an option says how figures look and gnuplot is missing; the page needs no gnuplot
void require_drawable(const FolderOptions& options) {
  if (options.figures && options.styles_figures()) require_gnuplot();
}

/// How to get the figures that were not drawn because gnuplot is missing.
std::string without_gnuplot(const fs::path& folder) {
  return fmt::format(
      "no figures, because gnuplot is not installed: install the Debian package gnuplot-nox, then `headwave figures "
      "{}` draws them",
      visible_text(shell_word((folder / "").parent_path().string())));
}

}  // namespace

OutputFolder opened_folder(const FolderOptions& options, const std::vector<fs::path>& read) {
  require_drawable(options);  // now, not after the work
  return {options.folder, output_files(options, read), options.force};
}

void write_results(const OutputFolder& folder, std::vector<KindResult>& results) {
  std::vector<std::unique_ptr<ReplacedFile>> files;
  std::vector<fs::path> old;
  if (folder.may_replace()) old = written_files(folder.path());
  for (auto& [kind, result] : results) {
    add_program(result.provenance);
    files.push_back(std::make_unique<ReplacedFile>(folder.inside(place_of(results, kind)) / "results.h5"));
    std::erase(old, files.back()->path());
    progress_at("writing " + files.back()->path().filename().string());
    write_result(result, *files.back());
  }
  commit_all(files);
  folder.remove(old);
}

namespace {

/// @returns names of what was written beside the result
std::string drawn(const fs::path& folder, const Result& result, const FolderOptions& options) {
  if (!options.figures) return {};
  require_drawable(options);  // a finished run is drawn without opened_folder()
  std::string wrote;
  const bool figures = gnuplot_found();
  if (figures)
    if (const auto files = draw_figures(result, folder / "figures", options.drawing); !files.empty())
      wrote = fmt::format(", {} files of figures,", files.size());
  const fs::path page = folder / "report.html";
  write_report(result, page);
  return wrote + " and " + visible_text(page.string()) + (figures ? "" : "; " + without_gnuplot(folder));
}

}  // namespace

std::string seen_head_table(const Result& result, const HeadTableOptions& asked) {
  HeadTableOptions options = asked;
  options.heads = heads_asked_for(result, asked.heads);
  const std::vector<TableColumn> every = sorted_columns(result, options);
  const std::vector<TableColumn> columns = shown_rows(every, options);
  if (columns.empty()) return head_answer(result, columns);
  std::string below;
  const std::size_t shown = columns[0].cells.size(), heads = every[0].cells.size();
  if (options.heads.empty() && shown < heads)
    below =
        fmt::format("{} of {} heads; --all shows every head, --wide every column, --sort another order\n",
                    options.sort.empty() ? fmt::format("the {} strongest", shown) : fmt::format("{}", shown), heads);
  for (const HeadSentence& head : head_sentences(result))
    if (std::ranges::count(options.heads, head_name(head.name.layer, head.name.head)) > 0 && !head.text.empty())
      below += wrapped_text(head.text + ".") + "\n";
  return head_answer(result, columns) + below;
}

void show_results(const OutputFolder& folder, const std::vector<KindResult>& results, const FolderOptions& options,
                  std::function<void()> print, const char* did) {
  HeadTableOptions heads = options.table;
  heads.heads = options.drawing.heads;
  if (!print)
    print = [&] {
      for (const auto& [kind, result] : results) {
        if (results.size() > 1) fmt::print("{} attention\n", name_of(kind));
        std::fputs(seen_head_table(result, heads).c_str(), stdout);
      }
    };
  std::exception_ptr unshown;  // even if a table cannot be made, figures are drawn
  try {
    try_to_print(print);
  } catch (const Error&) {
    unshown = std::current_exception();
  }
  for (const auto& [kind, result] : results) {
    const fs::path inner = folder.inside(place_of(results, kind));
    say(fmt::format("{} {}{}", did, visible_text((inner / "results.h5").string()), drawn(inner, result, options)));
  }
  if (unshown) std::rethrow_exception(unshown);
}

}  // namespace headwave::cli
