#pragma once

#include "../../core/fields/field.h"
#include "../run/job.h"
#include "job_input.h"

namespace headwave {

/// Everything about an input and the program that a file made from the input depends on, by name.
Attributes input_identity(const JobInput& input);

/// The same for a job, options included.
Attributes run_identity(const JobInput& input, const JobOptions& job);

/// The identity that a finished file states: its provenance without places, without who made it and how, and
/// without facts that are known only after the run. For a run it equals run_identity().
Attributes stated_identity(Attributes provenance);

}  // namespace headwave
