#pragma once

#include <filesystem>
#include <map>

#include "../../core/attention/document.h"

namespace headwave::cli {

/// The file in a run's folder from which an interrupted run is resumed.
constexpr const char* unfinished_name = "results.unfinished";

/// Refuses a folder that contains an unfinished run.
/// @throws IoError that says how to finish the run: with --resume, or from its parts with `headwave merge`
void require_no_begun_run(const std::filesystem::path& folder);

/// The result file that a path means: the file itself, or results.h5 in the folder.
/// @throws IoError if a folder contains no result, or several for kinds of attention, which the message names
std::filesystem::path result_path(const std::filesystem::path& path);

/// The result files in a folder: results.h5, which is listed as `self` whatever its kind of attention is, or
/// one file for each kind.
std::map<AttentionKind, std::filesystem::path> result_files(const std::filesystem::path& folder);

}  // namespace headwave::cli
