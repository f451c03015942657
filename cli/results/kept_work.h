#pragma once

#include <filesystem>

#include "../../job/inputs/job_input.h"
#include "../options/keep_options.h"
#include "output_folder.h"

namespace headwave::cli {

/// The file in which a command keeps what it came to, if it may be there. One that is thrown away is gone.
/// @param name   "results.unfinished"
/// @param force  whether it may be
/// @throws IoError if it is there, and neither to be gone on with nor to be thrown away
std::filesystem::path kept_file(const OutputFolder& folder, const std::filesystem::path& name,
                                const KeepOptions& options, bool force);

/// All of an input, and of the program, that what is made of it depends on.
Attributes input_identity(const JobInput& input);

}  // namespace headwave::cli
