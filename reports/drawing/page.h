#pragma once

#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "data_table.h"
#include "gnuplot.h"
#include "panel.h"

namespace headwave {

/// One line of a legend.
struct LegendEntry {
  std::string title;
  Line line;
};

/// A figure being drawn: panels in a grid, with titles, notes and a legend around them.
///
///     Page page(grid, options.style);
///     Panel& panel = page.panel(0, 0);
///     panel.x_axis({-16, 16}, {.step = 10});
///     panel.title_below("offset t = key − query (tokens)");
///     panel.vertical(0, {ink::zero_line, 0.7});
///     panel.curve(page.numbers(table), "1:2", {ink::measured, 1.3});
///     return page.figure();
class Page {
 public:
  /// @throws FormatError if the style is invalid, see require_style()
  Page(const PanelGrid& grid, const FigureStyle& style);

  /// Adds a table: `data` for the drawing alone, `keep` for people, written beside the figure, `numbers` for
  /// both. All kept tables have the same columns.
  /// @returns the name that verbs of a Panel take
  std::string data(const DataTable& table) { return figure_.add_data(table); }
  std::string numbers(const DataTable& table) { return figure_.add_numbers(table); }
  void keep(const DataTable& table) { figure_.keep(table); }

  /// Adds the panel in a row and column, or panel k where panels follow each other row by row. It lives as
  /// long as the page.
  Panel& panel(std::size_t row, std::size_t column);
  Panel& panel(std::size_t k) { return panel(grid_.row_of(k), grid_.column_of(k)); }

  /// Titles of all panels together, centred below and left of them, at a distance in inches from the page's
  /// edge. They become labels of the first panel: add a panel before.
  /// @param points  size of letters; 0: as along axes
  void title_below(const std::string& title, double height = 0.1, double points = 0);
  void title_left(const std::string& title, double distance = 0.12, double points = 0);
  /// Explains letters and inks of the panels in small letters below everything; the bottom margin needs room
  /// for it. Add a panel before.
  /// @param lines  of note_lines()
  void note_below(const std::vector<std::string>& lines);
  /// A legend in a row above all panels, in several rows if it is too long.
  void legend(const std::vector<LegendEntry>& entries) { legend_ = entries; }

  /// Says what is shown, for the caption: GnuplotFigure::show().
  void show(const std::string& sentence) { figure_.show(sentence); }

  /// Uses one colour for each of several things in order, layers say, instead of colours for amounts.
  void step_colors(Index steps);

  [[nodiscard]] const PanelGrid& grid() const { return grid_; }

  /// The figure, to be written.
  [[nodiscard]] GnuplotFigure figure();

 private:
  [[nodiscard]] std::string legend_script() const;

  PanelGrid grid_;
  FigureStyle style_;
  GnuplotFigure figure_;
  std::deque<Panel> panels_;
  std::vector<LegendEntry> legend_;
  std::string palette_;
};

/// Panels of one size that follow each other row by row, and what stands around them.
struct PanelFlow {
  PanelGrid grid;                        ///< a panel's size, gaps and margins
  std::size_t in_row = 3;                ///< most panels in a row
  double least = 1.6;                    ///< inches of width that a panel needs
  std::string below = {}, left = {};     ///< titles of all panels together
  std::vector<LegendEntry> legend = {};  ///< above all panels
  std::size_t each = 1;                  ///< panels that stay together
  std::size_t color_steps = 0;           ///< of Page::step_colors()
  std::string cut = {};                  ///< note below where panels are left out: "the first 4 of 9 heads"
  std::string note = {};                 ///< note below of all panels
  std::string shown = {};                ///< sentence for the caption: GnuplotFigure::show()
  double lowest = 0;                     ///< inches of height that a panel needs; 0: it keeps its height
  double tallest = 0;                    ///< the figure's height in widths of its page; 0: as tall as the page
  double points = 0;                     ///< of the titles' letters; 0: as along axes
};

/// The grid of n such panels at the style's width.
PanelGrid grid_of(const PanelFlow& flow, std::size_t n, const FigureStyle& style);

/// The flow with panels as low as n of them need to fit on the style's page, but not below `lowest`.
PanelFlow lowered(PanelFlow flow, std::size_t n, const FigureStyle& style);

/// How many of n panels fit on the style's page; all without a width.
std::size_t panels_that_fit(const PanelFlow& flow, std::size_t n, const FigureStyle& style);

/// Fills panel k of a page.
using FillPanel = std::function<void(Page& page, Panel& panel, std::size_t k)>;

/// Draws n panels.
GnuplotFigure drawn_panels(const PanelFlow& flow, std::size_t n, const FigureStyle& style, const FillPanel& fill);

/// Parts of a note, separated by semicolons, in as many lines as their words need, by a rough estimate.
/// @param width  inches before the style enlarges the figure
std::vector<std::string> note_lines(const std::vector<std::string>& parts, double width);
inline constexpr double note_line = 0.12;  ///< inches from one to the next

/// The grid with room for such a legend above it.
PanelGrid with_legend_above(PanelGrid grid, const std::vector<LegendEntry>& entries, const FigureStyle& style);

}  // namespace headwave
