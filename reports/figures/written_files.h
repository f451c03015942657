#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "../../core/attention/document.h"

namespace headwave {

/// The names of the files that draw_figures() writes of one figure.
std::vector<std::string> figure_files(const std::string& name, const std::vector<std::string>& formats);

/// The files that an earlier run left in a folder: results.h5, report.html, and in figures/ every file that
/// has the name of a sort of figure. Nothing if results.h5 is not a headwave result. For an encoder-decoder
/// also the results of the same command in self/, causal/ and cross/.
std::vector<std::filesystem::path> written_files(const std::filesystem::path& folder);

/// The sub-folders self, causal and cross of a folder that hold results.
std::map<AttentionKind, std::filesystem::path> kind_folders(const std::filesystem::path& folder);

}  // namespace headwave
