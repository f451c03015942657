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
  std::vector<std::string> only = {};          ///< names of figures ("offset_profile"); empty: all that can be drawn
  std::vector<std::string> heads = {};         ///< "L2H3"; in draw_figures() also "strongest:6"; empty: the strongest
  Index tokens = 15;                           ///< tokens shown in an attention map, at most the 64 that are stored
  std::vector<std::string> formats = {"svg"};  ///< some of "pdf", "svg", "png"
  double width = 0;                            ///< 2 to 7 inches; 0: the width that each figure needs
};

/// One kind of figure, and the Fields that it shows.
struct FigureKind {
  std::string name = {};                 ///< also the name of its files: "attention_map"
  std::vector<std::string> fields = {};  ///< the figure is drawn if the result has all of these
  std::vector<std::string> extras = {};  ///< other Fields of the same analyses; shown too if the result has them
  std::string caption = {};              ///< what is shown, its units and normalisation; plain text
  Figure (*drawing)(const Result&, const FigureOptions&) = nullptr;
  /// Says why the figure would show nothing of this result. The text is empty if it shows something. Null if
  /// the figure always shows something.
  std::string (*silent)(const Result&, const FigureOptions&) = nullptr;
  bool single_heads = false;  ///< shows only the heads in options.heads; other figures show all heads at once
  /// Whether the figure shows waves of redefined queries and keys. If a position term later rotates or shifts
  /// queries and keys, these waves are noise, and the figure is drawn only if FigureOptions::only names it.
  bool follows_waves = false;

  /// @throws ShapeError if a Field lacks the axes that its analysis gives it, does not fit the other Fields
  ///         or is empty, or a requested head is missing; FormatError if a head's name is invalid
  [[nodiscard]] Figure draw(const Result& result, const FigureOptions& options) const;
};

/// The kinds of figures, each defined in the file of its subject.
std::vector<FigureKind> map_figures(), profile_figures(), cluster_figures(), position_figures(), wave_figures(),
    phase_figures(), account_figures(), rotary_figures();

/// Every kind of figure, in the order of the argument of Yamamoto and Matsuzaki 2023.
const std::vector<FigureKind>& figure_kinds();

/// The figures that can be drawn from a result.
struct Drawable {
  std::vector<const FigureKind*> kinds;
  std::vector<std::string>
      undrawn;  ///< reasons why others cannot be drawn: "no position table: position_spectrum, position_components"
};

/// Chooses the figures that options.only names. If options.only is empty, chooses every figure whose Fields
/// are in the result and that shows more than undefined numbers or noise. Noise are the waves before a
/// position term. FigureKind::silent can give further reasons against a figure.
/// @throws FormatError if a figure's name is unknown, with the nearest name; ShapeError if the result does
///         not contain what a named figure shows
Drawable drawable(const Result& result, const FigureOptions& options = {});

/// Writes the caption of a figure for a paper, as one paragraph of plain text: what is shown, then which
/// model and text. Names from the result pass visible_text() and are cut at 80 columns.
/// @param shown  Figure::shown of the drawn figure
std::string caption_of(const FigureKind& kind, const Result& result, const std::string& shown = {});

/// Draws the drawable() figures of a result with gnuplot, which runs as a child process. Figures that show
/// all heads at once ignore options.heads.
/// @param folder  folder for NAME.svg (or another format) and the caption NAME.txt; made if it is missing
/// @returns the files written, figure by figure
/// @throws ShapeError if a requested head is not in the result, or a Field has another shape than its
///         analysis gives it; FormatError if a head's name is invalid; both also as drawable(); IoError if
///         gnuplot is missing or a file cannot be written
std::vector<std::filesystem::path> draw_figures(const Result& result, const std::filesystem::path& folder,
                                                const FigureOptions& options = {});

/// The names of the files that draw_figures() writes for one figure.
std::vector<std::string> figure_files(const std::string& name, const std::vector<std::string>& formats);

/// The files that an earlier run left in a folder: results.h5, report.html, and every file in figures/ that
/// is named after a kind of figure. For an encoder-decoder, the files in each of kind_folders(). Empty if the
/// folder contains no headwave result.
std::vector<std::filesystem::path> written_files(const std::filesystem::path& folder);

/// Those of the sub-folders self, causal and cross that contain results.
std::map<AttentionKind, std::filesystem::path> kind_folders(const std::filesystem::path& folder);

}  // namespace headwave
