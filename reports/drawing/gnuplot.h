#pragma once

#include <string>
#include <vector>

namespace headwave {

inline constexpr const char* font_name = "sans-serif";

/// What gnuplot is to draw: its commands, and inches of the picture. The same commands make
/// every format: text stays text in PDF and SVG, a heat map is one image in them.
struct GnuplotScript {
  std::string commands;
  double width, height;
};

/// Draws the formats, side by side.
/// @param name     of the figure; plain ASCII
/// @param formats  of "pdf", "svg", "png"
/// @returns the files' bytes in the order asked
/// @throws ShapeError for another format; IoError if gnuplot is missing or fails
std::vector<std::string> drawn_by_gnuplot(const GnuplotScript& script, const std::string& name,
                                          const std::vector<std::string>& formats);

/// Whether gnuplot can be run on this machine.
bool gnuplot_found();

/// Call this before computing what is to be drawn.
/// @throws IoError that names the package, if gnuplot cannot be run
void require_gnuplot();

}  // namespace headwave
