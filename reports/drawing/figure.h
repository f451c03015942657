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
/// @returns nothing for any other text
std::optional<double> figure_width(std::string_view words);

/// @throws FormatError naming a width that is neither 0 nor 2 to 7 inches
void require_width(double width);

/// A drawn figure: panels in a grid, row by row, with a legend above them.
struct Figure {
  PanelGrid grid;
  std::string palette = sequential_palette();
  std::vector<LegendEntry> legend = {};  ///< in a row above all panels; in several rows if one row is too short
  std::vector<Panel> panels = {};
  std::string shown = {};  ///< which part of the result is drawn: "6 of 72 heads are shown, the strongest."; empty: all

  [[nodiscard]] std::string script() const;

  /// Draws all formats in parallel with drawn_by_gnuplot().
  [[nodiscard]] std::vector<std::string> drawn(const std::string& name, const std::vector<std::string>& formats) const {
    return drawn_by_gnuplot({script(), grid.width(), grid.height()}, name, formats);
  }

  /// Writes folder/NAME.FORMAT for each format and the caption as NAME.txt. Creates a missing folder.
  /// @returns the files written
  /// @throws IoError if one cannot be drawn or written
  std::vector<std::filesystem::path> write(const std::filesystem::path& folder, const std::string& name,
                                           const std::vector<std::string>& formats, const std::string& caption) const;
};

/// A figure of equal panels, placed row by row, with titles, legend and notes around them.
///
/// Without a page width, a figure is as wide as it needs, and the letters along its axes have 8 points. With
/// a page width, all figures have that width and letters of the same size: panels become broader or narrower,
/// and a row holds fewer panels if they would be narrower than `least`. Panels that then do not fit on a page
/// 9 inches high are left out. No letter is smaller than least_letters.
struct FigurePanels {
  PanelGrid grid = {};                   ///< size of a panel, gaps and margins
  std::size_t in_row = 3;                ///< largest number of panels in a row
  double least = 1.6;                    ///< smallest width of a panel, inches
  double flatness = 0;                   ///< height of a panel divided by its width; 0: the height stays as in `grid`
  bool grows = true;                     ///< whether panels may become broader than in `grid`
  std::size_t each = 1;                  ///< number of consecutive panels that are shown together or not at all
  PanelAxis x = {}, y = {};              ///< axes of every panel; `fill` may change those of a panel
  std::string below = {}, left = {};     ///< titles below and at the left of all panels
  double points = 0;                     ///< size of the letters of these two titles, in points; 0: as along axes
  std::vector<LegendEntry> legend = {};  ///< in a row above all panels
  std::vector<std::string> notes = {};   ///< small letters below everything: what letters and inks mean
  std::size_t color_steps = 0;           ///< number of colours for things in an order (layers); 0: palette for amounts
  std::size_t of = 0;                    ///< number of things that could be shown, for Figure::shown; 0: no such text
  std::string what = "heads", chosen = {};  ///< what these things are called, and which are shown: ", the strongest"
  std::function<void(Panel& panel, std::size_t k)> fill = {};  ///< draws panel k
};

/// The grid of n panels, with room for the legend and the notes.
/// @param page  width of the page in inches, 2 to 7; 0: the width that the figure needs
PanelGrid grid_of(const FigurePanels& panels, std::size_t n, double page);

/// How many of n panels fit on the page in whole rows, at least one row; n if `page` is 0.
std::size_t fitting(const FigurePanels& panels, std::size_t n, double page);

/// Draws n panels, or the first fitting() panels if not all fit on the page.
/// @throws FormatError as require_width()
Figure drawn_panels(const FigurePanels& panels, std::size_t n, double page);

}  // namespace headwave
