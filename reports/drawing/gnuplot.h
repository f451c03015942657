#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "data_table.h"
#include "figure_style.h"

namespace headwave {

/// A file of a figure before it is written: "svg", and its bytes.
struct DrawnFile {
  std::string ending;
  std::string content;
};

/// Writes folder/name.ENDING for each file. All are on the disk before the first gets its name, so a full
/// disk leaves none of them. The folder is made if it is not there.
/// @returns the files written, in their order
/// @throws IoError if one cannot be written
std::vector<std::filesystem::path> write_drawn(const std::filesystem::path& folder, const std::string& name,
                                               const std::vector<DrawnFile>& files);

/// One figure: a gnuplot script, and the data blocks it plots.
///
/// Numbers and texts of a result reach gnuplot in data blocks only. The script holds nothing but our own
/// words, numbers and the blocks' names, so no token or path can act as a command. The same script makes
/// every format: text stays text in PDF and SVG, a heat map is one image in them.
class GnuplotFigure {
 public:
  /// @param width   inches, before the style enlarges the figure
  /// @param height  inches
  /// @throws FormatError if the style is invalid, see require_style()
  GnuplotFigure(double width, double height, const FigureStyle& style = {});

  /// Keeps numbers that the figure shows, under what they are called in numbers(). All tables of one figure have the
  /// same columns.
  void keep(const DataTable& numbers);
  /// The numbers that were kept; nothing if none were.
  [[nodiscard]] const std::optional<DataTable>& numbers() const { return kept_; }

  /// Adds a block of data for gnuplot.
  /// @returns the block's name in the script, "$data0"
  std::string add_data(const DataTable& data);

  /// Both: numbers that are plotted as they are.
  std::string add_numbers(const DataTable& numbers);

  /// Appends commands and a line end.
  void add(const std::string& commands) { script_ += commands + '\n'; }

  /// Says what of the result this drawing shows, for its caption: "The 35 strongest of 72 heads are shown."
  void show(const std::string& sentence) { shown_ += (shown_.empty() ? "" : " ") + sentence; }
  [[nodiscard]] const std::string& shown() const { return shown_; }

  [[nodiscard]] const std::string& script() const { return script_; }
  /// Inches on paper.
  [[nodiscard]] double width() const { return width_ * enlargement(style_); }
  [[nodiscard]] double height() const { return height_ * enlargement(style_); }

  /// Draws the formats, side by side.
  /// @param name     of the figure; plain ASCII
  /// @param formats  of "pdf", "svg", "png"
  /// @returns formats in the order asked
  /// @throws ShapeError for another format; IoError if gnuplot is missing or fails
  [[nodiscard]] std::vector<DrawnFile> drawn(const std::string& name, const std::vector<std::string>& formats) const;

  /// Draws and writes.
  /// @throws as drawn() and write_drawn()
  std::vector<std::filesystem::path> write(const std::filesystem::path& folder, const std::string& name,
                                           const std::vector<std::string>& formats) const;

 private:
  double width_, height_;
  FigureStyle style_;
  std::string script_, data_, shown_;
  std::size_t blocks_ = 0;
  std::optional<DataTable> kept_;
};

/// Whether gnuplot can be run on this machine.
bool gnuplot_found();

/// Call this before computing what is to be drawn.
/// @throws IoError that names the package, if gnuplot cannot be run
void require_gnuplot();

}  // namespace headwave
