#pragma once

#include <string>
#include <vector>

#include "../../core/fields/field.h"
#include "../drawing/figure_style.h"

namespace headwave {

class GnuplotFigure;

/// What to draw, and how to keep it.
struct FigureOptions {
  std::vector<std::string>
      only;  ///< "offset_profile", figures that are drawn; empty: all that a result can be drawn as
  std::vector<std::string> heads;  ///< "L2H3", what figures of single heads show: maps, waves, covariances; empty: a
                                   ///< few of those in the result, the ones with the clearest offset first
  std::string pairs = "all";  ///< which query-key pairs offset profiles count: also "without_special", "without_sink"
  Index tokens = 15;          ///< how many of a text's first tokens an attention map shows, 256 at most
  std::vector<std::string> formats = {"pdf", "svg", "png"};
  bool keep_data = true;  ///< write beside each figure the plotted numbers, as tab-separated values, and its caption
  FigureStyle style;      ///< width, letters and colours
};

/// One sort of figure and the Fields it is made of. Each has a file pair of its own, which says all of this.
struct FigureKind {
  std::string name;                 ///< also of its files: "attention_map"
  std::vector<std::string> fields;  ///< it is drawn where all of these are in the result
  std::vector<std::string> extras;  ///< and shows these too where they are
  std::string caption;              ///< what is seen, its units and normalisation; plain text

  /// @throws ShapeError if Fields have other axes than described or hold nothing, or a head asked for is not among
  ///         them; FormatError if a head's name is none
  GnuplotFigure (*draw)(const Result&, const FigureOptions&) = nullptr;
  /// What the caption says beside, of the heads that are drawn of this result; null: nothing.
  std::string (*says)(const Result&, const FigureOptions&) = nullptr;
};

}  // namespace headwave
