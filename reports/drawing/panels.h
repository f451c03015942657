#pragma once

#include <string>
#include <vector>

#include "../../core/numbers/matrix.h"

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

  [[nodiscard]] double width() const;
  [[nodiscard]] double height() const;

  /// gnuplot's margins that put the next plot into one panel.
  [[nodiscard]] std::string place(Index row, Index column) const;

  /// gnuplot's position of a point given in inches from the page's left and lower edge: "screen x, screen y".
  [[nodiscard]] std::string page(double x, double y) const;

  /// A title below a panel, and one left of it, read upwards: gnuplot labels 91 and 92, at distances in inches from the
  /// panel's frame. gnuplot's own axis titles stand elsewhere in each format.
  [[nodiscard]] std::string title_below(Index row, Index column, const std::string& title,
                                        double distance = 0.37) const;
  [[nodiscard]] std::string title_left(Index row, Index column, const std::string& title, double distance = 0.5) const;

  [[nodiscard]] double panel_left(Index column) const;
  [[nodiscard]] double panel_bottom(Index row) const;
};

/// One line of a legend.
struct LegendEntry {
  std::string title;  ///< our own words
  std::string style;  ///< gnuplot's: "lc rgb \"#0072B2\" lw 1.5"
};

/// A legend in one row at the top of the page, `below` inches from its edge: a drawing of its own inside a multiplot,
/// since gnuplot would fold a panel's legend to the panel's width. The house style must be set after it.
std::string legend_above(const PanelGrid& grid, const std::vector<LegendEntry>& entries, double below = 0.14);

/// A small panel for every head, layers in rows: few heads large, many as small as text can still be read on a screen.
PanelGrid head_panels(Index layers, Index heads);

/// A round distance between tics, 1, 2 or 5 times a power of ten, that puts about four into a range.
/// @param range  > 0
double tic_step(double range);

/// The part of an axis that shows some numbers.
struct ValueRange {
  double low = 0.0;
  double high = 1.0;
};

/// From zero, or a little below the smallest value where that is negative, to a little above the largest; what is not
/// finite does not count. Never empty: gnuplot fails on an empty range.
ValueRange range_with_zero(const std::vector<double>& values);

/// What every drawing begins with: thin grey frame, short tics outside, a true minus sign.
std::string house_style();

}  // namespace headwave
