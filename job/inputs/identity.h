#pragma once

#include "../../core/fields/field.h"
#include "../run/job.h"
#include "job_input.h"

namespace headwave {

/// All of an input, and of the program, that what is made of it depends on, by name.
Attributes input_identity(const JobInput& input);

/// The same of a job: its options too.
Attributes run_identity(const JobInput& input, const JobOptions& job);

/// What a finished file says of the identity of what it is made of: its provenance without places, without who made it
/// and how, and without what only the work told. Equal to run_identity() of a run, and so says options that are gone.
Attributes stated_identity(Attributes provenance);

}  // namespace headwave
