#pragma once

#include <vector>

#include "../run/job.h"
#include "job_input.h"

namespace headwave {

/// Runs a job on an input with run_job_by_kind(), and adds the input's provenance to the results.
/// @param progress, gather  as for run_job_by_kind()
/// @throws Error as require_maps() and run_job_by_kind(); for stored sums also as require_options_of_sums()
std::vector<KindResult> run_input(const JobInput& input, const JobOptions& options,
                                  const ProgressCallback& progress = {}, const Gather& gather = {});

}  // namespace headwave
