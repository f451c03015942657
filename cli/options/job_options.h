#pragma once

#include <string>

#include "../../job/run/job.h"
#include "cli11.h"

namespace headwave::cli {

/// Adds every option of job_option_table(), and --map-window.
/// @param no_only  why the command does every analysis; empty: it has --only
void add_job_options(CLI::App& command, JobOptions& options, const std::string& no_only = "");

}  // namespace headwave::cli
