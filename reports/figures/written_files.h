#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "../../core/attention/document.h"

namespace headwave {

/// The names of the files that draw_figures() may write, of all sorts of figures, in every format.
std::vector<std::string> figure_files();
/// Of one figure alone.
std::vector<std::string> figure_files(const std::string& name);

/// The page or a figure of a result's folder, by the marks that its files carry (run_mark.h).
struct Drawing {
  std::string name;                          ///< "report.html", or of a sort of figure
  std::vector<std::filesystem::path> files;  ///< those that are there
  std::set<std::string> marks;               ///< of all but the table of numbers; an empty one: a file carries none

  /// Whether headwave drew it: all files say so.
  [[nodiscard]] bool is_ours() const { return !marks.empty() && !marks.contains(""); }
  /// Whether it was drawn from the result of this mark, all of it.
  [[nodiscard]] bool is_of(const std::string& mark) const { return marks == std::set<std::string>{mark}; }
};

/// What lies beside the results.h5 of a folder, or would: the page, and each sort of figure.
std::vector<Drawing> drawings_in(const std::filesystem::path& folder);

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
