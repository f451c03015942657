#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "../../core/attention/document.h"
#include "../../core/fields/field.h"
#include "../drawing/figure.h"

namespace headwave {

/// What to draw, and how.
struct FigureOptions {
  std::vector<std::string> only = {};          ///< names of figures: "offset_profile"; empty: all that can be drawn
  std::vector<std::string> heads = {};         ///< heads to show: "L2H3"; draw_figures() also takes "strongest:6";
                                               ///< empty: a few, the strongest first
  Index tokens = 15;                           ///< tokens that an attention map shows, at most the 64 that are stored
  std::vector<std::string> formats = {"svg"};  ///< of "pdf", "svg", "png"
  double width = 0;                            ///< inches, 2 to 7; 0: as each figure needs
};

/// One kind of figure, and the Fields it shows.
struct FigureKind {
  std::string name = {};                 ///< also the name of its files: "attention_map"
  std::vector<std::string> fields = {};  ///< the figure is drawn if the result has all of these
  std::vector<std::string> extras = {};  ///< of the same analyses; shown too if they are there
  std::string caption = {};              ///< what is shown, its units and normalisation; plain text
  Figure (*drawing)(const Result&, const FigureOptions&) = nullptr;
  /// Says why the figure would show nothing of this result; empty: it shows something. Null: it always does.
  std::string (*silent)(const Result&, const FigureOptions&) = nullptr;
  bool single_heads = false;  ///< shows the heads in options.heads; other figures show all heads at once
  /// Shows waves of redefined queries and keys. If a position term turns or shifts these later, the waves are
  /// noise, and the figure is drawn only if `only` names it.
  bool follows_waves = false;

  /// @throws ShapeError if Fields have other axes than described, do not fit each other or are empty, or a
  ///         head asked for is missing; FormatError if a head's name is invalid
  [[nodiscard]] Figure draw(const Result& result, const FigureOptions& options) const;
};

/// The kinds of figures, each defined in the file of its subject.
std::vector<FigureKind> map_figures(), profile_figures(), cluster_figures(), position_figures(), wave_figures(),
    phase_figures(), account_figures(), rotary_figures();

/// Every kind of figure, in the order of the paper's argument.
const std::vector<FigureKind>& figure_kinds();

/// The figures that can be drawn of a result.
struct Drawable {
  std::vector<const FigureKind*> kinds;
  std::vector<std::string>
      undrawn;  ///< and why others cannot: "no position table: position_spectrum, position_components"
};

/// Chooses the figures that options.only names. If it is empty, chooses every figure whose Fields are in the
/// result and that would show more than nothing or noise: no undefined numbers, no waves before a position
/// term, and no reason from FigureKind::silent.
/// @throws FormatError if a name is unknown, with the nearest; ShapeError if the result does not contain what
///         a named figure shows
Drawable drawable(const Result& result, const FigureOptions& options = {});

/// The caption of a figure in a paper, one paragraph of plain text: what is shown, then which model and text.
/// Names from the result pass visible_text() and are cut at 80 columns.
/// @param shown  Figure::shown of the drawn figure
std::string caption_of(const FigureKind& kind, const Result& result, const std::string& shown = {});

/// Draws the drawable() figures of a result with gnuplot, which runs as a child process. Figures that show
/// all heads ignore options.heads.
/// @param folder  for NAME.svg, or other formats, and the caption in NAME.txt; made if it is missing
/// @returns the files written, figure by figure
/// @throws ShapeError if a head asked for is not in the result, or a Field has another shape than described;
///         FormatError if a head's name is invalid; both as drawable(); IoError if gnuplot is missing or a
///         file cannot be written
std::vector<std::filesystem::path> draw_figures(const Result& result, const std::filesystem::path& folder,
                                                const FigureOptions& options = {});

/// The names of the files that draw_figures() writes for one figure.
std::vector<std::string> figure_files(const std::string& name, const std::vector<std::string>& formats);

/// The files that an earlier run left in a folder: results.h5, report.html, and in figures/ every file named
/// after a kind of figure; for an encoder-decoder those in kind_folders(). None without a headwave result.
std::vector<std::filesystem::path> written_files(const std::filesystem::path& folder);

/// The sub-folders self, causal and cross of a folder that contain results.
std::map<AttentionKind, std::filesystem::path> kind_folders(const std::filesystem::path& folder);

}  // namespace headwave
