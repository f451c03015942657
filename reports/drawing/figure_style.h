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
/// would be too narrow to be read they take more rows. Panels that do not fit on the page are left out. No letter
/// is smaller than 6 points.
struct FigureStyle {
  double width = 0.0;               ///< inches, 2 to 7; 0: what each figure needs
  std::string palette = "viridis";  ///< of palette_names()
};

/// Reads a width: "column" (3.4 inches, a column of a two-column journal), "page" (7), or a number of
/// inches from 2 to 7.
/// @returns nothing for other words
std::optional<double> figure_width(std::string_view words);

/// "viridis", even and told apart by colour-blind readers, and "grey", which uses no colours at all.
const std::vector<std::string>& palette_names();

/// The height in inches that a page has: 9 of a sheet of paper. Infinite without a width: then nothing is cut off.
double page_height(const FigureStyle& style);

inline constexpr const char* font_name = "sans-serif";

/// The smallest size of letters, in points on paper.
inline constexpr double least_letters = 6.0;

/// @throws FormatError naming a width out of range or an unknown palette
void require_style(const FigureStyle& style);

}  // namespace headwave
