#pragma once

#include "../analysis/pass/job_options.h"
#include "python.h"

namespace headwave::python {

/// The options of a job by their names: reach, fdr.
/// @throws FormatError if an option is unknown, with the nearest name, or has another type
JobOptions options_of(const nb::dict& given);

}  // namespace headwave::python
