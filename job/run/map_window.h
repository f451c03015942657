#pragma once

#include <string>

#include "../../analysis/pass/job_options.h"

namespace headwave {

/// What map_window takes: "typical, or FIRST:END, 1 to 64 tokens".
extern const std::string map_window_values;

/// Sets map_first and map_tokens of a window: "typical", or "FIRST:END", the tokens of which attention maps keep every
/// weight, up to but not including END.
/// @returns false: it is neither
bool set_map_window(JobOptions& options, const std::string& window);

/// The window of options, for job files.
std::string map_window(const JobOptions& options);

}  // namespace headwave
