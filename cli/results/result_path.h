#pragma once

#include <filesystem>
#include <map>

#include "../../core/attention/document.h"

namespace headwave::cli {

/// Refuses a folder without a result, in which a run has begun.
/// @throws IoError that says how the run is brought to its end: with --resume, or from its parts with `headwave merge`
void require_no_begun_run(const std::filesystem::path& folder);

/// The result file that a path names: the file itself, or results.h5 in the folder.
/// @throws IoError if a folder holds none, or one for each kind of attention: then it names those
std::filesystem::path result_path(const std::filesystem::path& path);

/// The results that a folder holds, none where there is none: results.h5, as that of `self` whatever it is of, or one of
/// each kind of attention.
std::map<AttentionKind, std::filesystem::path> result_files(const std::filesystem::path& folder);

}  // namespace headwave::cli
