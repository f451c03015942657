#pragma once

#include <string>
#include <vector>

namespace headwave {

inline constexpr const char* font_name = "sans-serif";

/// Input of gnuplot: its commands, and the size of the picture in inches. One script serves every format. In
/// PDF and SVG, text stays text and a heat map is one image.
struct GnuplotScript {
  std::string commands;
  double width, height;
};

/// Draws the formats in parallel.
/// @param name     of the figure, for messages and the title of an SVG; plain ASCII
/// @param formats  of "pdf", "svg", "png"
/// @returns the contents of the files, in the order of `formats`
/// @throws ShapeError for another format; IoError if gnuplot is missing or fails
std::vector<std::string> drawn_by_gnuplot(const GnuplotScript& script, const std::string& name,
                                          const std::vector<std::string>& formats);

bool gnuplot_found();

/// Checks that figures can be drawn. Call this before a long computation of what is to be drawn.
/// @throws IoError naming the package to install, if gnuplot cannot be run
void require_gnuplot();

}  // namespace headwave
