#pragma once

#include "../../job/run/job.h"
#include "cli11.h"

namespace headwave::cli {

/// Adds the options of job_option_table(), except those that other options set.
void add_job_options(CLI::App& command, JobOptions& options);

/// Refuses a given option that no analysis of the job reads, unless it has its usual value.
/// @throws CLI::ValidationError naming the analysis and how to ask for it; ShapeError as chosen_analyses()
void require_read_options(const CLI::App& command, const JobOptions& options);

}  // namespace headwave::cli
