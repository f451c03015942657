#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "../options/cli11.h"
#include "../terminal/terminal.h"
#include "output_folder.h"

namespace headwave::cli {

/// What a command is told that can go on where an earlier one ended.
struct ResumeOptions {
  bool resume = false;
  double keep_every = 30;  ///< seconds
};

/// Adds --resume and --keep-every, which no job file has.
/// @param command  "run", "capture"
/// @param options  must live as long as the command
void add_resume_options(CLI::App& app, const std::string& command, ResumeOptions& options);

/// In a run's folder, what it came to.
constexpr const char* unfinished_name = "results.unfinished";

/// The file in which a command keeps what it came to, if it may be there. One that is thrown away is gone.
/// @param name   "results.unfinished"
/// @param force  whether it may be
/// @throws IoError if it is there, and neither to be gone on with nor to be thrown away
std::filesystem::path resume_file_in(const OutputFolder& folder, const std::filesystem::path& name,
                                     const ResumeOptions& options, bool force);

/// Removes what a finished job still keeps, as one that died over its last steps does. Nothing where nothing is kept.
/// @param lock    of those who write there; one that is left behind goes too
/// @param others  that are kept beside the file, and go before it
/// @throws IoError if somebody is writing there: it is theirs then
void remove_resume_file(const std::filesystem::path& file, const std::filesystem::path& lock,
                        const std::function<void()>& others = {});

/// While it lives, the end of the program says how its work is gone on with.
LastWords resume_words();

}  // namespace headwave::cli
