#pragma once

#include <string>
#include <vector>

#include "run_input.h"

namespace headwave::cli {

/// What one would want to know of an input that is read, and that is no error.
std::vector<std::string> remarks_on(const JobInput& input, const InputOptions& options, const SourceOptions& given);

/// Says a remark once: a command may open its input twice, to compare two runs over it.
void say_once(const std::string& remark);

}  // namespace headwave::cli
