#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "../../core/attention/document.h"

namespace headwave {

/// The names of the files that draw_figures() may write, of all sorts of figures.
std::vector<std::string> figure_files(const std::vector<std::string>& formats);

/// The files that an earlier run left in a folder: results.h5, report.html, and in figures/ every file that has the
/// name of a sort of figure. Nothing where results.h5 is not a headwave result. Of an encoder-decoder, whose results of
/// one command lie in self/, causal/ and cross/, those too.
std::vector<std::filesystem::path> written_files(const std::filesystem::path& folder);

/// The files that `headwave spectrum` left in a folder: N-name.h5 that are headwave results, and, where there is one,
/// spectra.pdf, .svg, .png, .tsv, .txt and .tex.
std::vector<std::filesystem::path> written_spectra(const std::filesystem::path& folder);

/// The sub-folders of a folder in which kinds of attention have results of their own: self, causal, cross.
std::map<AttentionKind, std::filesystem::path> kind_folders(const std::filesystem::path& folder);

}  // namespace headwave
