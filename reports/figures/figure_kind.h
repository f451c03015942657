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

}  // namespace headwave
