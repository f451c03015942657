#pragma once

#include <string>
#include <vector>

#include "../../core/fields/field.h"
#include "../drawing/figure.h"

namespace headwave {

/// What to draw, and how to keep it.
struct FigureOptions {
  std::vector<std::string> only = {};   ///< names of figures, "offset_profile"; empty: all that can be drawn
  std::vector<std::string> heads = {};  ///< "L2H3", or of draw_figures() "strongest:6": the heads to show; empty: a
                                        ///< few, the strongest first
  std::string pairs = "all";  ///< which query-key pairs offset profiles count: also "without_special", "without_sink"
  Index tokens = 15;          ///< how many of a text's first tokens an attention map shows, 256 at most
  std::vector<std::string> formats = {"pdf", "svg", "png"};
  bool formats_there = true;  ///< draw also the formats in which a figure lies there already
  FigureStyle style = {};     ///< width, letters and colours
};

/// One sort of figure, and the Fields it is made of.
struct FigureKind {
  std::string name = {};                 ///< also of its files: "attention_map"
  std::vector<std::string> fields = {};  ///< it is drawn if all of these are in the result
  std::vector<std::string> extras = {};  ///< it shows these too if they are there
  std::string caption = {};              ///< what is seen, its units and normalisation; plain text
  Figure (*drawing)(const Result&, const FigureOptions&) = nullptr;
  /// What the caption adds about the heads that are drawn of this result; null: nothing.
  std::string (*says)(const Result&, const FigureOptions&) = nullptr;
  /// Why the figure would show nothing of this result; empty: it shows something. Null: it always does.
  std::string (*silent)(const Result&, const FigureOptions&) = nullptr;
  bool single_heads = false;  ///< shows the heads that options.heads names; other figures show all heads at once
  /// Follows waves through redefined queries and keys. Under a position term, which turns or shifts them
  /// later, these show noise: then the figure is drawn only if `only` names it.
  bool follows_waves = false;

  /// Draws it.
  /// @throws ShapeError if Fields have other axes than described, do not fit each other or hold nothing, or a
  ///         head asked for is not among them; FormatError if a head's name is invalid, or if heads are asked
  ///         for and the figure shows all heads at once
  [[nodiscard]] Figure draw(const Result& result, const FigureOptions& options) const;
};

/// The sorts of figures, each in the file of its idea.
std::vector<FigureKind> map_figures(), profile_figures(), cluster_figures(), position_figures(), wave_figures(),
    phase_figures(), account_figures(), rotary_figures(), comparison_figures();

}  // namespace headwave
