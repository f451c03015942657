#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "../../core/numbers/matrix.h"
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

/// One of the parts that work is divided into by hand, counted from 1.
struct Shard {
  Index part = 1, parts = 1;
};

/// Adds --shard, which takes "1/16" to "16/16" and their kin, and goes without --json.
CLI::Option* add_shard_option(CLI::App& command, std::string& shard, const std::string& help);

/// Of a text that --shard takes.
Shard shard_of(const std::string& text);

}  // namespace headwave::cli
