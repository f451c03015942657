#pragma once

#include "../analysis/pass/job_options.h"
#include "python.h"

namespace headwave::python {

/// Job options from a dict by name, such as reach or fdr.
/// @throws FormatError if an option is unknown, or its value has the wrong type
JobOptions options_of(const nb::dict& given);

/// The defaults of all job options, by name.
nb::dict job_options();

}  // namespace headwave::python
