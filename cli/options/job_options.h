#pragma once

#include "../../job/run/job.h"
#include "cli11.h"

namespace headwave::cli {

/// Adds every option of job_option_table().
void add_job_options(CLI::App& command, JobOptions& options);

/// Refuses an option that was given, not as it is anyway, and that no analysis of the job reads.
/// @throws CLI::ValidationError that names the analysis, and how it is asked for; ShapeError as chosen_analyses()
void require_read_options(const CLI::App& command, const JobOptions& options);

}  // namespace headwave::cli
