#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "../../core/numbers/matrix.h"
#include "../options/cli11.h"
#include "output_folder.h"

namespace headwave::cli {

/// Options of a command that can resume an interrupted one.
struct ResumeOptions {
  bool resume = false;
  double keep_every = 30;  ///< seconds
};

/// Adds --resume and --keep-every, which no job file has.
/// @param options  must live as long as the command
void add_resume_options(CLI::App& app, ResumeOptions& options);

/// The file in a run's folder from which it is resumed.
constexpr const char* unfinished_name = "results.unfinished";

/// The path of a command's resume file. With `force` and without --resume, an existing one is removed.
/// @param name  "results.unfinished"
/// @throws IoError if the file exists, and neither --resume nor `force` is given
std::filesystem::path resume_file_in(const OutputFolder& folder, const std::filesystem::path& name,
                                     const ResumeOptions& options, bool force);

/// Removes the resume file that a finished job left when it died in its last steps, if there is one.
/// @param lock    of the folder, removed with it
/// @throws IoError if another command is writing there
void remove_resume_file(const std::filesystem::path& file, const std::filesystem::path& lock);

/// One part of work that is divided by hand, counted from 1.
struct Shard {
  Index part = 1, parts = 1;
};

/// Adds --shard PART/PARTS, with PART from 1 to PARTS: "3/16" is the third of sixteen parts. It excludes --json.
CLI::Option* add_shard_option(CLI::App& command, std::string& shard, const std::string& help);

/// Reads a value of --shard.
Shard shard_of(const std::string& text);

}  // namespace headwave::cli
