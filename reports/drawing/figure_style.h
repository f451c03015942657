#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headwave {

/// How large figures are, in which letters and in which colours: what a user chooses, whatever is shown.
///
/// Without a width every figure is as wide as it needs, with letters of 8 points along its axes. With one, all are so
/// wide, and letters do not shrink with them, so that the figures of a paper have one size of letters: panels become
/// narrower or broader, and where they would be too narrow to be read they stand in more rows, so that a figure of many
/// heads grows tall. Letters along axes keep their size. Beyond 7 inches letters, lines and dots grow with the width: a
/// slide is a page enlarged. No letter is smaller than 6 points on paper, or than those along the axes where these are.
struct FigureStyle {
  double width = 0.0;               ///< inches, 2 to 40; 0: what each figure needs
  double points = 0.0;              ///< size of letters along axes, 4 to 40; 0: 8, beyond 7 inches 8/7 of the width
  std::string font = "sans-serif";  ///< letters, digits, spaces and hyphens; the system finds the nearest that it has
  std::string palette = "viridis";  ///< of palette_names()
};

/// A width as people say it: "column" of a journal with two 3.4 inches, "page" 7, "slide" 12, or a number of inches
/// from 2 to 40.
/// @returns nothing if it is none of them
std::optional<double> figure_width(std::string_view words);

/// Whether a name may be a font's: nothing in it can mean anything to the program that draws.
bool is_font_name(std::string_view name);

/// "viridis" first, then others that are even to the eye and told apart by colour-blind ones, and "grey", which leaves
/// the colours out of everything.
const std::vector<std::string>& palette_names();

/// By how much everything drawn is larger than with letters of 8 points along the axes.
double enlargement(const FigureStyle& style);

/// The width in inches to lay a figure out for before it is enlarged; 0: what it needs.
double layout_width(const FigureStyle& style);

/// The size of small letters before they are enlarged: what a figure would have, but at least 6 points on paper.
double legible(double points, const FigureStyle& style);

/// @throws FormatError that names what is wrong, if the style has a number out of range, no font name, or a palette
///         that is not known
void require_style(const FigureStyle& style);

}  // namespace headwave
