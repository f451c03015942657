#pragma once

#include <string>

#include "../analysis/pass/job_options.h"
#include "python.h"

namespace headwave::python {

/// The options of a job by their names: reach, false_share.
/// @throws FormatError if an option is unknown, with the nearest name, or has another type
JobOptions options_of(const nb::dict& given);

/// A job as a job file, for the provenance: every option, defaults with them, as the program writes them.
/// @param input  what was said of the model and the documents, by the names of job files
/// @throws FormatError if one of these is neither a flag, a number, a text nor a list of texts
std::string job_text(const nb::dict& input, const JobOptions& options);

}  // namespace headwave::python
