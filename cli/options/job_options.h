#pragma once

#include <CLI/CLI.hpp>

#include "../../job/run/job.h"

namespace headwave::cli {

/// Adds --only, --window, --reach, --level, --draws, --resamples, --false-share, --clusters, --sweep, --score-window,
/// --score-clusters, --atlas-draws, --seed and
/// --threads.
/// @param no_only  why the command does every analysis; empty: it has --only
void add_job_options(CLI::App& command, JobOptions& options, const std::string& no_only = "");

}  // namespace headwave::cli
