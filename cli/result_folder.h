#pragma once

#include <filesystem>
#include <string>

#include <CLI/CLI.hpp>

#include "headwave/core/field.h"
#include "headwave/reports/figures.h"

namespace headwave::cli {

/// Options that every command which writes a result folder shares.
struct FolderOptions {
  std::filesystem::path folder;
  bool force = false;  ///< replace what is there
  bool figures = true;
  FigureOptions drawing;
};

/// What a command's figures show: options about anything else are not offered.
struct DrawnHere {
  bool heads = true;     ///< single heads: --heads
  bool maps = true;      ///< attention maps: --map-tokens
  bool profiles = true;  ///< offset profiles: --pairs
};

/// Adds --formats, and of --heads, --map-tokens and --pairs those that mean something.
void add_drawing_options(CLI::App& command, FigureOptions& options, const DrawnHere& drawn = {});

/// Adds --out, --force and --no-figures, and what add_drawing_options adds.
void add_folder_options(CLI::App& command, FolderOptions& options, bool required, const DrawnHere& drawn = {});

/// Says so where attention maps show fewer tokens than were asked for, because the result keeps no more.
void say_fewer_map_tokens(const CLI::App& command, const Result& result, const FigureOptions& options);

/// Tells the progress line which figure is drawn, for draw_figures().
void figure_progress(const std::string& name, std::size_t number, std::size_t count);

/// Refuses, before anything is computed, to write over an earlier result.
/// @throws IoError unless --force was given
void require_free(const FolderOptions& options);

/// Writes results.h5, figures/ and summary.html.
void write_files(Result& result, const FolderOptions& options, double seconds);

/// Prints the table of heads and writes the files.
void write_folder(Result& result, const FolderOptions& options, double seconds);

}  // namespace headwave::cli
