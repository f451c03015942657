#pragma once

#include <filesystem>
#include <map>

#include "../../core/attention/document.h"

namespace headwave::cli {

/// The file in a run's folder from which it is resumed.
constexpr const char* unfinished_name = "results.unfinished";

/// Refuses a folder that contains an unfinished run.
/// @throws IoError that says how to finish it: with --resume, or from its parts with `headwave merge`
void require_no_begun_run(const std::filesystem::path& folder);

/// The result file that a path names: the file itself, or results.h5 in the folder.
/// @throws IoError if a folder contains none, or several, which it names, for kinds of attention
std::filesystem::path result_path(const std::filesystem::path& path);

/// The result files in a folder: results.h5, listed as `self` whatever its attention, or one for each kind.
std::map<AttentionKind, std::filesystem::path> result_files(const std::filesystem::path& folder);

}  // namespace headwave::cli
