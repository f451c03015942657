#pragma once

#include <string>

#include "cli11.h"

namespace headwave::cli {

/// What a command is told that can go on where an earlier one ended.
struct KeepOptions {
  bool resume = false;
  double keep_every = 30;  ///< seconds
};

/// Adds --resume and --keep-every, which no job file has.
/// @param command  "run", "capture"
/// @param options  must live as long as the command
void add_keep_options(CLI::App& app, const std::string& command, KeepOptions& options);

}  // namespace headwave::cli
