#pragma once

#include <string>
#include <vector>

#include "palette.h"
#include "tics.h"

namespace headwave {

/// A line, with dots on it where their size is above 0.
struct Line {
  Ink ink = ink::text;
  double width = 1.0;     ///< half points
  std::string dash = {};  ///< gnuplot's pattern of '-', '_', '.' and spaces, or the number of one; empty: solid
  double dots = 0.0;      ///< size; 1 is about 0.09 inches
  int point = 7;          ///< gnuplot's shape of the dots
};

/// Line i: its colour, with another dash and shape of dots for each, so that lines differ in black and white.
Line categorical_line(Index i, double width = 1.8, double dots = 0.0);

/// gnuplot's shapes.
enum class Shape { disc = 7, ring = 6, square = 5 };

struct Dot {
  Ink ink = ink::text;
  double size = 1.0;  ///< about 0.09 inches
  Shape shape = Shape::disc;
};

/// Which part of a text stands at its place.
enum class Anchor { left, center, right };

/// How a text is written.
struct Letters {
  double points = 0.0;  ///< 0: as along axes
  bool bold = false;
  Ink ink = ink::text;
  Anchor anchor = Anchor::left;
  double right = 0.0, up = 0.0;  ///< moved by so many letters
  double up_share = 0.0;         ///< moved by a part of the panel's height
  bool upward = false;           ///< read from below
  bool front = false;            ///< before the curves
};

/// One of a place's two coordinates.
struct Coordinate {
  enum class Unit { value, panel, page } unit = Unit::value;
  double number = 0.0;
};

/// On the axis; as a part of the panel's width or height, 0 left or below; as a part of the page's.
constexpr Coordinate value(double number) {
  return {Coordinate::Unit::value, number};
}
constexpr Coordinate share(double part) {
  return {Coordinate::Unit::panel, part};
}
constexpr Coordinate page_share(double part) {
  return {Coordinate::Unit::page, part};
}

/// Where something stands on a panel or a page.
struct Place {
  Coordinate x, y;
};

/// How gnuplot says these things.
std::string text_words(const std::string& text);  ///< in quotes; nothing in it can end them or act as a command
std::string font_words(double points, bool bold, const FigureStyle& style);  ///< legible(), or as along axes
std::string color_words(const Ink& ink, const FigureStyle& style);
std::string line_words(const Line& line, const FigureStyle& style);
std::string dot_words(const Dot& dot, const FigureStyle& style);
std::string letter_words(const Letters& letters, const FigureStyle& style);
std::string place_words(const Place& place);
std::string tic_words(const Tics& tics);  ///< where they stand, and their names

}  // namespace headwave
