#pragma once

#include <string>
#include <vector>

namespace headwave {

inline constexpr const char* font_name = "sans-serif";

/// Input of gnuplot: commands, and the size of the picture in inches. The same commands serve every format.
/// In PDF and SVG, text stays text, and a heat map is one image.
struct GnuplotScript {
  std::string commands;
  double width, height;
};

/// Draws one figure in several formats, in parallel.
/// @param name     name of the figure, for messages and as title of an SVG; plain ASCII
/// @param formats  some of "pdf", "svg", "png"
/// @returns the content of a file for each of `formats`, in the same order
/// @throws ShapeError for another format; IoError if gnuplot is missing or fails
std::vector<std::string> drawn_by_gnuplot(const GnuplotScript& script, const std::string& name,
                                          const std::vector<std::string>& formats);

bool gnuplot_found();

/// Checks that gnuplot can be run. Call this before a long computation whose results are to be drawn.
/// @throws IoError naming the package to install, if gnuplot cannot be run
void require_gnuplot();

}  // namespace headwave
