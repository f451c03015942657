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

/// Options that are shared by every command that writes a result folder.
struct FolderOptions {
  std::filesystem::path folder;
  bool force = false;                                           ///< replace existing files
  bool figures = true;                                          ///< false: neither figures nor a page
  std::function<bool()> styles_figures = [] { return false; };  ///< whether an option says how figures look
  FigureOptions drawing;
  HeadTableOptions table;  ///< its heads are taken from `drawing`
};

/// Adds --formats and --figure-width.
/// @param of_text  adds --heads and --map-tokens too, for results of a text
void add_drawing_options(CLI::App& command, FigureOptions& options, bool of_text = true);

/// Adds --out, --force and --no-figures.
void add_folder_options(CLI::App& command, FolderOptions& options, bool required);

/// Adds --all, --wide and --sort, which are not in job files.
void add_table_options(CLI::App& command, HeadTableOptions& options);

/// Opens the folder, before anything is computed.
/// @param read  files that the command reads; none may be replaced
/// @throws IoError if an input would be replaced, a file exists and --force was not given, nothing can be
///         written, or gnuplot is missing although an option says how figures look
OutputFolder opened_folder(const FolderOptions& options, const std::vector<std::filesystem::path>& read);

/// Writes results.h5, in a folder for each kind of attention if there are several. The files get their names
/// once all are written; then other files of an earlier result are removed.
/// @param results  get version, command and time as provenance
void write_results(const OutputFolder& folder, std::vector<KindResult>& results);

/// head_answer(), the options that show more, and the sentences of chosen heads.
std::string seen_head_table(const Result& result, const HeadTableOptions& options);

/// Prints written results: their tables, or what `print` prints. Unless --no-figures was given, writes
/// report.html and, if gnuplot is installed, figures/ beside them. Says what was written.
/// @param did  what was done with results.h5, in that message
void show_results(const OutputFolder& folder, const std::vector<KindResult>& results, const FolderOptions& options,
                  std::function<void()> print = {}, const char* did = "wrote");

}  // namespace headwave::cli
