#pragma once

#include <cstddef>

#include "figure_style.h"
#include "strokes.h"

namespace headwave {

/// Equal panels in rows and columns on one page, everything in inches. Row 0 is the top one.
struct PanelGrid {
  std::size_t rows = 1;
  std::size_t columns = 1;
  struct Size {
    double width = 3.0, height = 2.0;
  } panel = {};
  struct Gap {
    double x = 0.0, y = 0.0;  ///< between two panels of a row, for tic labels or a colour bar, and of a column
  } gap = {};
  struct Margin {
    double left = 0.6, right = 0.1, top = 0.2, bottom = 0.5;
  } margin = {};              ///< of the page
  double legend_below = 0.0;  ///< of the bottom margin, for a legend that does not fit beside the panels
  std::size_t panels = 0;     ///< how many there are, where the last row is not full; 0: rows * columns

  [[nodiscard]] double width() const;
  [[nodiscard]] double height() const;
  [[nodiscard]] double panel_left(std::size_t column) const;
  [[nodiscard]] double panel_bottom(std::size_t row) const;

  /// The row and column of panel k, where panels follow each other row by row.
  [[nodiscard]] std::size_t row_of(std::size_t k) const { return k / columns; }
  [[nodiscard]] std::size_t column_of(std::size_t k) const { return k % columns; }
  /// Whether no panel stands below panel k.
  [[nodiscard]] bool is_lowest(std::size_t k) const { return k + columns >= (panels > 0 ? panels : rows * columns); }

  /// A point given in inches from the page's left and lower edge.
  [[nodiscard]] Place at(double x, double y) const { return {page_share(x / width()), page_share(y / height())}; }
};

/// The grid of panels that follow each other row by row, at most `most` in a row.
PanelGrid flowing(PanelGrid grid, std::size_t panels, std::size_t most);

/// The same for the width that the style asks for: panels become broader or narrower, and where they would be
/// narrower than `least` fewer stand in a row. Broader panels also grow in height where they stand in one
/// row. Without a width the grid stays as it is.
/// @param least  inches that a panel needs
PanelGrid fitted(PanelGrid grid, std::size_t panels, double least, const FigureStyle& style);

/// How many panels fit on the page that the style asks for, in whole rows; at least one row.
std::size_t panels_on_page(const PanelGrid& fitted, const FigureStyle& style);
/// The same for a height in inches.
std::size_t panels_within(const PanelGrid& fitted, double height);

/// Inches from one line of a legend beside panels to the next, and around one below them.
inline constexpr double legend_line = 0.17, legend_margin = 0.12;

/// The grid with its legend below, in two columns, where the style's width leaves no room for it in the right
/// margin.
PanelGrid with_legend_beside(PanelGrid grid, std::size_t entries, const FigureStyle& style);

/// A grid of one panel of equal cells: as broad as asked for or as fits, and tall enough for its legend.
/// @param cell_width, cell_height  inches, if no width was asked for
PanelGrid with_cells(PanelGrid grid, std::size_t across, std::size_t down, double cell_width, double cell_height,
                     std::size_t entries, const FigureStyle& style);

/// The grid with so many inches more below its panels and their legend.
PanelGrid with_room_below(PanelGrid grid, double inches);

constexpr std::size_t most_head_panels = std::size_t{128} * 128;  ///< of one figure

/// A small panel for every head: layers in rows, and a layer takes several rows where one does not hold it.
struct HeadPanels : PanelGrid {
  std::size_t heads = 1;  ///< of a layer
  [[nodiscard]] std::size_t rows_of_layer() const { return (heads + columns - 1) / columns; }
  [[nodiscard]] std::size_t row(std::size_t layer, std::size_t head) const {
    return layer * rows_of_layer() + head / columns;
  }
  [[nodiscard]] std::size_t column(std::size_t head) const { return head % columns; }
  double points = 6.0;       ///< size of letters
  bool layers_left = false;  ///< rows name their layer, panels the head alone: there is no room for both
};

/// Few heads are drawn large, many as small as text can still be read on a screen.
/// @param flatness  a panel's height divided by its width
HeadPanels head_panels(std::size_t layers, std::size_t heads, const FigureStyle& style, double flatness = 0.62);

}  // namespace headwave
