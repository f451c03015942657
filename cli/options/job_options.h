#pragma once

#include "../../job/run/job.h"
#include "cli11.h"

namespace headwave::cli {

/// Adds the options of job_option_table(), except options that other command-line options set.
void add_job_options(CLI::App& command, JobOptions& options);

/// Refuses an option that was given, differs from its default, and is used by no analysis of the job.
/// @throws CLI::ValidationError naming the analysis that uses the option and how to request it; ShapeError as
///         chosen_analyses()
void require_read_options(const CLI::App& command, const JobOptions& options);

}  // namespace headwave::cli
