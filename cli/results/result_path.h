#pragma once

#include <filesystem>

namespace headwave::cli {

/// The result file that a path names: the file itself, or results.h5 in the folder.
/// @throws IoError if a folder holds none, or one for each kind of attention: then it names those
std::filesystem::path result_path(const std::filesystem::path& path);

}  // namespace headwave::cli
