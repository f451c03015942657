#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gnuplot.h"
#include "panel.h"

namespace headwave {

/// Reads a width: "column" (3.4 inches, a column of a two-column journal), "page" (7), or a number of
/// inches from 2 to 7.
/// @returns nothing for other words
std::optional<double> figure_width(std::string_view words);

/// @throws FormatError naming a width out of range
void require_width(double width);

/// A figure as it is drawn: panels in a grid, row by row, with a legend above them.
struct Figure {
  PanelGrid grid;
  std::string palette = sequential_palette();
  std::vector<LegendEntry> legend = {};  ///< in a row above all panels, in several rows if it is too long
  std::vector<Panel> panels = {};
  std::string shown = {};  ///< what of the result is drawn, for the caption: "The 35 strongest of 72 heads are shown."

  [[nodiscard]] std::string script() const;

  /// Draws the formats, side by side: drawn_by_gnuplot().
  [[nodiscard]] std::vector<std::string> drawn(const std::string& name, const std::vector<std::string>& formats) const {
    return drawn_by_gnuplot({script(), grid.width(), grid.height()}, name, formats);
  }

  /// Writes folder/NAME.FORMAT for each format, and the caption as NAME.txt. The folder is made if it is not there.
  /// @returns the files written
  /// @throws IoError if one cannot be drawn or written
  std::vector<std::filesystem::path> write(const std::filesystem::path& folder, const std::string& name,
                                           const std::vector<std::string>& formats, const std::string& caption) const;
};

/// A figure as a table of panels of one size that follow each other row by row, and what stands around them.
///
/// Without a width a figure is as wide as it needs, with letters of 8 points along its axes. With a width all figures have
/// that width and the same size of letters: panels become broader or narrower, and where they would be narrower than
/// `least` fewer stand in a row. Panels that do not fit on the page, 9 inches high, are left out. No letter is smaller than
/// least_letters.
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
  std::vector<std::string> notes = {};   ///< below everything in small letters: what letters and inks mean
  std::size_t color_steps = 0;           ///< a colour for each of so many things in order; 0: colours of amounts
  std::size_t of = 0;                    ///< how many things there are of which the panels show some; 0: they show all
  std::string what = "heads", chosen = {};  ///< these things, and which of them are shown: ", the strongest"
  std::function<void(Panel& panel, std::size_t k)> fill = {};  ///< draws panel k
};

/// The grid of n such panels on a page so many inches wide, with room for legends and notes.
/// @param page  inches, 2 to 7; 0: what the figure needs
PanelGrid grid_of(const FigurePanels& panels, std::size_t n, double page);

/// How many of n such panels fit on the page, in whole rows, at least one; all without a width.
std::size_t fitting(const FigurePanels& panels, std::size_t n, double page);

/// Draws n panels, or the first of them if no more fit on the page.
/// @throws FormatError as require_width()
Figure drawn_panels(const FigurePanels& panels, std::size_t n, double page);

}  // namespace headwave
