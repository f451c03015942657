#pragma once

#include <vector>

#include "../run/job.h"
#include "job_input.h"

namespace headwave {

/// The job of an input: run_job_by_kind() of its model and documents, what is known of the model in the provenance.
/// @param progress, gather  as of run_job_by_kind()
/// @throws Error as require_maps() and run_job_by_kind(); ShapeError if an analysis of a grid is asked of a model
///         whose tokens stand in a row
std::vector<KindResult> run_input(const JobInput& input, const JobOptions& options,
                                  const ProgressCallback& progress = {}, const Gather& gather = {});

}  // namespace headwave
