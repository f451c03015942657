#pragma once

#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "gnuplot.h"
#include "panel.h"

namespace headwave {

/// A figure being drawn: panels in a grid, with titles, notes and a legend around them.
class Figure {
 public:
  /// @throws FormatError if the style is invalid, see require_style()
  Figure(const PanelGrid& grid, const FigureStyle& style);

  std::vector<LegendEntry> legend = {};  ///< in a row above all panels, in several rows if it is too long
  std::string shown = {};  ///< what of the result is drawn, for the caption: "The 35 strongest of 72 heads are shown."

  /// Adds panel k; panels follow each other row by row.
  Panel& panel(std::size_t k) { return panels_.emplace_back(grid_, k / grid_.columns, k % grid_.columns, style_); }

  /// Uses one colour for each of several things in order, layers say, instead of colours for amounts.
  void step_colors(Index steps) { palette_ = step_palette(style_, steps); }

  [[nodiscard]] const std::deque<Panel>& panels() const { return panels_; }
  [[nodiscard]] std::string script() const;
  /// Inches on paper.
  [[nodiscard]] double width() const { return grid_.width(); }
  [[nodiscard]] double height() const { return grid_.height(); }

  /// Draws the formats, side by side: drawn_by_gnuplot().
  [[nodiscard]] std::vector<DrawnFile> drawn(const std::string& name, const std::vector<std::string>& formats) const {
    return drawn_by_gnuplot({script(), grid_.width(), grid_.height()}, name, formats);
  }

 private:
  PanelGrid grid_;
  FigureStyle style_;
  std::deque<Panel> panels_;
  std::string palette_;
};

/// A figure as a table of panels of one size that follow each other row by row, and what stands around them.
///
/// With a width panels become broader or narrower, and where they would be narrower than `least` fewer stand in a row.
struct FigurePanels {
  PanelGrid grid = {};                   ///< a panel's size, gaps and margins
  std::size_t in_row = 3;                ///< most panels in a row
  double least = 1.6;                    ///< inches of width that a panel needs
  double flatness = 0;                   ///< a panel's height divided by its width; 0: it keeps its height
  bool grows = true;                     ///< whether panels become broader than they are
  std::size_t each = 1;                  ///< panels that stay together
  PanelAxis x = {}, y = {};              ///< of every panel, unless it says otherwise
  std::string below = {}, left = {};     ///< titles of all panels together
  double points = 0;                     ///< of these titles' letters; 0: as along axes
  std::vector<LegendEntry> legend = {};  ///< in a row above all panels
  std::string beside_title = {};         ///< of a legend in the right margin, below where a page is narrow
  std::vector<LegendEntry> beside = {};  ///< its entries
  double away = 0.16, text_right = 0.1;  ///< of Panel::legend_beside()
  std::vector<std::string> notes = {};   ///< below everything in small letters: what letters and inks mean
  std::size_t color_steps = 0;           ///< a colour for each of so many things in order; 0: colours of amounts
  std::size_t of = 0;                    ///< how many things there are of which the panels show some; 0: they show all
  std::string what = "heads", chosen = {};  ///< these things, and which of them are shown: ", the strongest"
  std::function<void(Panel& panel, std::size_t k)> fill = {};  ///< draws panel k
};

/// The grid of n such panels at the style's width, with room for legends and notes.
PanelGrid grid_of(const FigurePanels& panels, std::size_t n, const FigureStyle& style);

/// How many of n such panels fit on the style's page, in whole rows, at least one; all without a width.
std::size_t fitting(const FigurePanels& panels, std::size_t n, const FigureStyle& style);

/// Draws n panels, or the first of them if no more fit on the page.
Figure drawn_panels(const FigurePanels& panels, std::size_t n, const FigureStyle& style);

}  // namespace headwave
