#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "../../core/attention/document.h"
#include "../../core/fields/field.h"
#include "../drawing/figure.h"

namespace headwave {

/// What to draw, and how to keep it.
struct FigureOptions {
  std::vector<std::string> only = {};   ///< names of figures, "offset_profile"; empty: all that can be drawn
  std::vector<std::string> heads = {};  ///< "L2H3", or of draw_figures() "strongest:6": the heads to show; empty: a
                                        ///< few, the strongest first
  Index tokens = 15;                    ///< how many tokens of its window an attention map shows, 64 at most
  std::vector<std::string> formats = {"svg"};  ///< of "pdf", "svg", "png"
  double width = 0;                            ///< inches, 2 to 7; 0: what each figure needs
};

/// One sort of figure, and the Fields it is made of.
struct FigureKind {
  std::string name = {};                 ///< also of its files: "attention_map"
  std::vector<std::string> fields = {};  ///< it is drawn if all of these are in the result
  std::vector<std::string> extras = {};  ///< of the same analyses; it shows these too if they are there
  std::string caption = {};              ///< what is seen, its units and normalisation; plain text
  Figure (*drawing)(const Result&, const FigureOptions&) = nullptr;
  /// Why the figure would show nothing of this result; empty: it shows something. Null: it always does.
  std::string (*silent)(const Result&, const FigureOptions&) = nullptr;
  bool single_heads = false;  ///< shows the heads that options.heads names; other figures show all heads at once
  /// Follows waves through redefined queries and keys. Under a position term, which turns or shifts them
  /// later, these show noise: then the figure is drawn only if `only` names it.
  bool follows_waves = false;

  /// Draws it.
  /// @throws ShapeError if Fields have other axes than described, do not fit each other or hold nothing, or a
  ///         head asked for is not among them; FormatError if a head's name is invalid
  [[nodiscard]] Figure draw(const Result& result, const FigureOptions& options) const;
};

/// The sorts of figures, each in the file of its idea.
std::vector<FigureKind> map_figures(), profile_figures(), cluster_figures(), position_figures(), wave_figures(),
    phase_figures(), account_figures(), rotary_figures();

/// Every sort of figure, in the order of the paper's argument.
const std::vector<FigureKind>& figure_kinds();

/// The figures that a result is drawn as.
struct Drawable {
  std::vector<const FigureKind*> kinds;
  std::vector<std::string> undrawn;  ///< "no position table: position_spectrum, position_components"
};

/// The figures that options.only names; if it is empty, every figure whose Fields are in the result, without those that
/// would show nothing, or noise: numbers that are undefined, waves before a position term, and what FigureKind::silent
/// says.
/// @throws FormatError if a name is unknown, with the nearest; ShapeError if the result does not contain what
///         such a figure shows
Drawable drawable(const Result& result, const FigureOptions& options = {});

/// The caption of a figure in a paper, one paragraph of plain text: what is seen, then which model and text.
/// Names from the result are visible_text() here, and no longer than 80 columns.
/// @param shown  Figure::shown of what was drawn
std::string caption_of(const FigureKind& kind, const Result& result, const std::string& shown = {});

/// Draws the figures of a result that are drawable(). gnuplot draws, as a child process. Figures of all heads ignore
/// options.heads.
/// @param folder  where name.svg, or other formats, and the caption in name.txt go, made if it is not there
/// @returns the files written, figure by figure
/// @throws ShapeError if a head is asked for that is not in the result, or a Field has another shape than
///         described; FormatError if a head's name is invalid; both as drawable(); IoError if gnuplot is missing or a
///         file cannot be written
std::vector<std::filesystem::path> draw_figures(const Result& result, const std::filesystem::path& folder,
                                                const FigureOptions& options = {});

/// The names of the files that draw_figures() writes of one figure.
std::vector<std::string> figure_files(const std::string& name, const std::vector<std::string>& formats);

/// The files that an earlier run left in a folder: results.h5, report.html, and in figures/ every file that has the name of
/// a sort of figure; of an encoder-decoder those in self/, causal/ and cross/. None if results.h5 is not a headwave result.
std::vector<std::filesystem::path> written_files(const std::filesystem::path& folder);

/// The sub-folders self, causal and cross of a folder that hold results.
std::map<AttentionKind, std::filesystem::path> kind_folders(const std::filesystem::path& folder);

}  // namespace headwave
