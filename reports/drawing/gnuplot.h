#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "data_table.h"
#include "figure_style.h"

namespace headwave {

/// A file of a figure before it is written: "svg", and its bytes.
struct DrawnFile {
  std::string ending;
  std::string content;
};

/// Writes folder/name.ENDING of each: all are on the disk before the first gets its name, so that a disk that refuses one
/// leaves none. The folder is made if it is not there.
/// @param mark  run_mark() of the result that was drawn, which each carries; empty: none
/// @returns the files written, in their order
/// @throws IoError if one cannot be written
std::vector<std::filesystem::path> write_drawn(const std::filesystem::path& folder, const std::string& name,
                                               const std::vector<DrawnFile>& files, const std::string& mark = {});

/// One figure on its way to paper: a gnuplot script and the data files it plots.
///
/// Numbers and texts reach gnuplot in data files only; the script holds nothing but our own words, numbers and the
/// names of those files, so no token or path can act as a command. The same script makes every format: text stays text
/// in PDF and SVG, a heat map is one image in them.
class GnuplotFigure {
 public:
  /// @param width   inches, before the style enlarges the figure
  /// @param height  inches
  /// @throws FormatError if the style is none, see require_style()
  GnuplotFigure(double width, double height, const FigureStyle& style = {});

  /// What is plotted, for people: written beside the figure. All tables of one figure have the same columns.
  void keep(const DataTable& numbers);

  /// What gnuplot reads.
  /// @returns the file name to use in the script
  std::string add_data(const DataTable& data);

  /// Both: numbers that are plotted as they are.
  std::string add_numbers(const DataTable& numbers);

  /// Appends commands and a line end.
  void add(const std::string& commands) { script_ += commands + '\n'; }

  [[nodiscard]] const std::string& script() const { return script_; }
  /// Inches on paper.
  [[nodiscard]] double width() const { return width_ * enlargement(style_); }
  [[nodiscard]] double height() const { return height_ * enlargement(style_); }

  /// Draws the formats and, if asked, adds "tsv", the plotted numbers.
  /// @param name     of the figure; plain ASCII
  /// @param formats  of "pdf", "svg", "png"
  /// @returns formats in the order asked, the numbers last
  /// @throws ShapeError for another format; IoError if gnuplot is missing or fails
  [[nodiscard]] std::vector<DrawnFile> drawn(const std::string& name, const std::vector<std::string>& formats,
                                             bool keep_data) const;

  /// Draws and writes.
  /// @throws as drawn() and write_drawn()
  std::vector<std::filesystem::path> write(const std::filesystem::path& folder, const std::string& name,
                                           const std::vector<std::string>& formats, bool keep_data) const;

 private:
  double width_;
  double height_;
  FigureStyle style_;
  std::string script_;
  std::vector<std::string> files_;
  std::optional<DataTable> kept_;
};

/// Whether gnuplot can be run on this machine.
bool gnuplot_found();

/// To be asked before what is to be drawn has been computed.
/// @throws IoError that names the package, if gnuplot cannot be run
void require_gnuplot();

}  // namespace headwave
