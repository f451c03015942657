#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace headwave {

/// A file of a figure before it is written: "svg", and its bytes.
struct DrawnFile {
  std::string ending;
  std::string content;
};

/// Writes folder/name.ENDING for each file. The folder is made if it is not there.
/// @returns the files written, in their order
/// @throws IoError if one cannot be written
std::vector<std::filesystem::path> write_drawn(const std::filesystem::path& folder, const std::string& name,
                                               const std::vector<DrawnFile>& files);

/// What gnuplot is to draw: its commands, and inches of the picture. The same commands make
/// every format: text stays text in PDF and SVG, a heat map is one image in them.
struct GnuplotScript {
  std::string commands;
  double width, height;
};

/// Draws the formats, side by side.
/// @param name     of the figure; plain ASCII
/// @param formats  of "pdf", "svg", "png"
/// @returns formats in the order asked
/// @throws ShapeError for another format; IoError if gnuplot is missing or fails
std::vector<DrawnFile> drawn_by_gnuplot(const GnuplotScript& script, const std::string& name,
                                        const std::vector<std::string>& formats);

/// Whether gnuplot can be run on this machine.
bool gnuplot_found();

/// Call this before computing what is to be drawn.
/// @throws IoError that names the package, if gnuplot cannot be run
void require_gnuplot();

}  // namespace headwave
