#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "../options/run_input.h"

namespace headwave::cli {

/// All that an input is read from: files, and folders with files in them; "-" is standard input.
std::vector<std::filesystem::path> read_files(const InputOptions& input);

/// Where a model is read from: its folder, also where a file in it names it.
std::filesystem::path folder_of_model(const std::filesystem::path& model);

/// Refuses to write over what is read, whatever --force says. Files are the same by device and inode, so through links of
/// both kinds. In a folder that is read all files count but those that an earlier headwave wrote there: a result may lie
/// beside its model.
/// @param written  files that would be replaced or removed, where they are there
/// @param read     files and folders
/// @param option   that names another place: "--out"
/// @throws IoError that names both
void require_unread(const std::vector<std::filesystem::path>& written, const std::vector<std::filesystem::path>& read,
                    const std::string& option);

}  // namespace headwave::cli
