#pragma once

#include <cstddef>

#include "figure_style.h"
#include "strokes.h"

namespace headwave {

/// Equal panels in rows and columns on one page, everything in inches. Row 0 is the top one.
struct PanelGrid {
  Index rows = 1;
  Index columns = 1;
  double panel_width = 3.0;
  double panel_height = 2.0;
  double gap_x = 0.0;  ///< between two panels of a row, for tic labels or a colour bar
  double gap_y = 0.0;
  double left = 0.6;  ///< margins of the page
  double right = 0.1;
  double top = 0.2;
  double bottom = 0.5;
  double legend_below = 0.0;  ///< of the bottom margin, for a legend that does not fit beside the panels

  [[nodiscard]] double width() const;
  [[nodiscard]] double height() const;
  [[nodiscard]] double panel_left(Index column) const;
  [[nodiscard]] double panel_bottom(Index row) const;

  /// Where panel k of several stands that follow each other row by row.
  [[nodiscard]] Index row_of(std::size_t k) const { return static_cast<Index>(k) / columns; }
  [[nodiscard]] Index column_of(std::size_t k) const { return static_cast<Index>(k) % columns; }
  /// Whether no panel stands below panel k of so many.
  [[nodiscard]] bool is_lowest(std::size_t k, std::size_t panels) const {
    return k + static_cast<std::size_t>(columns) >= panels;
  }

  /// A point given in inches from the page's left and lower edge.
  [[nodiscard]] Place at(double x, double y) const { return {page_share(x / width()), page_share(y / height())}; }
};

/// So many panels that follow each other row by row, `most` at most to a row.
PanelGrid flowing(PanelGrid grid, std::size_t panels, Index most);

/// The same for the width that the style asks for: panels become broader or narrower, and where they would be narrower
/// than `least` fewer stand in a row. Broader ones grow in height too where they stand in one row, others stay as tall.
/// As it is where no width was asked for.
/// @param least  inches that a panel needs
PanelGrid fitted(PanelGrid grid, std::size_t panels, double least, const FigureStyle& style);

/// Inches from one line of a legend beside panels to the next, and around one below them.
inline constexpr double legend_line = 0.17, legend_margin = 0.12;

/// The grid with its legend below, in two columns, where the style's width leaves no room for it in the right margin.
PanelGrid with_legend_beside(PanelGrid grid, std::size_t entries, const FigureStyle& style);

/// A grid of one panel of equal cells, as broad as they should be or as fit, and as tall as its legend needs.
/// @param cell_width, cell_height  inches, where no width was asked for
PanelGrid with_cells(PanelGrid grid, std::size_t across, std::size_t down, double cell_width, double cell_height,
                     std::size_t entries, const FigureStyle& style);

constexpr std::size_t most_head_panels = std::size_t{128} * 128;  ///< of one figure

/// A small panel for every head, layers in rows, and the rows of a layer below each other where one does not hold it.
struct HeadPanels : PanelGrid {
  Index heads = 1;  ///< of a layer
  [[nodiscard]] Index rows_of_layer() const { return (heads + columns - 1) / columns; }
  [[nodiscard]] Index row(Index layer, Index head) const { return layer * rows_of_layer() + head / columns; }
  [[nodiscard]] Index column(Index head) const { return head % columns; }
  /// Whether the head's panel is the lowest of its column.
  [[nodiscard]] bool is_lowest(Index layer, Index head) const {
    return layer + 1 == rows / rows_of_layer() && head + columns >= heads;
  }
  double points = 6.0;       ///< size of letters
  bool layers_left = false;  ///< rows name their layer, panels the head alone: there is no room for both
};

/// Few heads are drawn large, many as small as text can still be read on a screen.
/// @param flatness  a panel's height in parts of its width
HeadPanels head_panels(Index layers, Index heads, const FigureStyle& style, double flatness = 0.62);

}  // namespace headwave
