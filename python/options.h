#pragma once

#include "../analysis/pass/job_options.h"
#include "python.h"

namespace headwave::python {

/// The options of a job by their names: reach, fdr.
/// @throws FormatError if an option is unknown, or has another type
JobOptions options_of(const nb::dict& given);

/// All options of a job by their names, with their usual values.
nb::dict job_options();

}  // namespace headwave::python
