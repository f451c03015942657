#pragma once

#include "../analysis/pass/job_options.h"
#include "python.h"

namespace headwave::python {

/// Makes job options from a dict of option names, such as reach or fdr, and values.
/// @throws FormatError if an option is unknown, or its value has the wrong type
JobOptions options_of(const nb::dict& given);

/// A dict of all job options and their defaults.
nb::dict job_options();

}  // namespace headwave::python
