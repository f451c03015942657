#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "../../core/fields/field.h"
#include "../../job/run/job.h"
#include "../../reports/figures/figures.h"
#include "../../reports/tables/head_table.h"
#include "../options/cli11.h"
#include "../terminal/terminal.h"
#include "output_folder.h"

namespace headwave::cli {

/// Options of every command that writes a result folder.
struct FolderOptions {
  std::filesystem::path folder;
  bool force = false;                                           ///< whether existing files may be replaced
  bool figures = true;                                          ///< whether to write figures and a page
  std::function<bool()> styles_figures = [] { return false; };  ///< whether --formats or --figure-width was given
  FigureOptions drawing;
  HeadTableOptions table;  ///< `heads` of the table are those of `drawing`
};

/// Adds the options of figures, --formats and --figure-width.
/// @param of_text  true: also add --heads and --map-tokens, for results of a text
void add_drawing_options(CLI::App& command, FigureOptions& options, bool of_text = true);

/// Adds --out, --force and --no-figures.
void add_folder_options(CLI::App& command, FolderOptions& options, bool required);

/// Adds --all, --wide and --sort, which job files cannot contain.
void add_table_options(CLI::App& command, HeadTableOptions& options);

/// Opens the output folder. Call this before anything is computed.
/// @param read  files that the command reads; they are never replaced
/// @throws IoError as OutputFolder, or if gnuplot is missing although --formats or --figure-width was given
OutputFolder opened_folder(const FolderOptions& options, const std::vector<std::filesystem::path>& read);

/// Writes results.h5. If there are several kinds of attention, each has a folder of its own. The files get
/// their final names only when all of them are written. Then other files of an earlier result are removed.
/// @param results  the call adds version, command and time to their provenance
void write_results(const OutputFolder& folder, std::vector<KindResult>& results);

/// Makes the text for a terminal: head_answer(), a hint at the options that show more, and the sentences of
/// the heads in options.heads.
std::string seen_head_table(const Result& result, const HeadTableOptions& options);

/// Shows results that were written: prints their tables, or calls `print` if it is given. Unless --no-figures
/// was given, writes report.html and, if gnuplot is installed, figures/ beside them. Then says what was
/// written.
/// @param did  verb for results.h5 in this last message
void show_results(const OutputFolder& folder, const std::vector<KindResult>& results, const FolderOptions& options,
                  std::function<void()> print = {}, const char* did = "wrote");

}  // namespace headwave::cli
