#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "../../core/attention/document.h"

namespace headwave {

/// The names of the files that draw_figures() writes of one figure.
std::vector<std::string> figure_files(const std::string& name, const std::vector<std::string>& formats);

/// The files that an earlier run left in a folder: results.h5, report.html, and in figures/ every file that has the name of
/// a sort of figure; of an encoder-decoder those in self/, causal/ and cross/. None without a results.h5.
std::vector<std::filesystem::path> written_files(const std::filesystem::path& folder);

/// The sub-folders self, causal and cross of a folder that hold results.
std::map<AttentionKind, std::filesystem::path> kind_folders(const std::filesystem::path& folder);

}  // namespace headwave
