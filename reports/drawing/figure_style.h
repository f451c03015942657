#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headwave {

/// The size and colours of figures, as a user chooses them.
///
/// Without a width every figure is as wide as it needs, with letters of 8 points along its axes. With a width
/// all figures have that width and the same size of letters: panels become narrower or broader, and if they
/// would be too narrow to be read they take more rows. Panels that do not fit on the page are left out. Beyond
/// 7 inches letters, lines and dots grow with the width: a slide is a page enlarged. No letter is smaller than
/// 6 points on paper.
struct FigureStyle {
  double width = 0.0;               ///< inches, 2 to 40; 0: what each figure needs
  std::string palette = "viridis";  ///< of palette_names()
};

/// Reads a width: "column" (3.4 inches, a column of a two-column journal), "page" (7), "slide" (12), or a
/// number of inches from 2 to 40.
/// @returns nothing for other words
std::optional<double> figure_width(std::string_view words);

/// "viridis", even and told apart by colour-blind readers, and "grey", which uses no colours at all.
const std::vector<std::string>& palette_names();

/// The factor by which everything drawn is larger than with letters of 8 points along the axes.
double enlargement(const FigureStyle& style);

/// The width in inches for which a figure is laid out before it is enlarged; 0: as wide as it needs.
double layout_width(const FigureStyle& style);

/// The height in inches, before the figure is enlarged, that its page has: 9 inches of a sheet of paper, or
/// the height of a slide of 16 by 9 where the figure is wider than 7 inches. Infinite without a width: then
/// nothing is cut off.
double layout_height(const FigureStyle& style);

inline constexpr const char* font_name = "sans-serif";

/// The smallest size of letters, in points on paper.
inline constexpr double least_letters = 6.0;

/// @throws FormatError naming a width out of range or an unknown palette
void require_style(const FigureStyle& style);

}  // namespace headwave
