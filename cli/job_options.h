#pragma once

#include <CLI/CLI.hpp>

#include "headwave/job/job.h"

namespace headwave::cli {

/// Adds --window, --reach, --level, --clusters, --sweep, --seed and --threads.
void add_job_options(CLI::App& command, JobOptions& options);

}  // namespace headwave::cli
