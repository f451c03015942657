#pragma once

#include <limits>
#include <string>
#include <vector>

#include "palette.h"

namespace headwave {

/// A line, with dots on it where their size is above 0.
struct Line {
  Ink ink = ink::text;
  double width = 1.0;     ///< half points
  std::string dash = {};  ///< gnuplot's pattern of '-', '_', '.' and spaces, or
                          ///< the number of one; empty: solid
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

/// Which part of a text is at its place.
enum class Anchor { left, center, right };

/// How a text is written.
struct Letters {
  double points = 0.0;  ///< 0: as along axes
  bool bold = false;
  Ink ink = ink::text;
  Anchor anchor = Anchor::left;
  double right = 0.0, up = 0.0;  ///< moved by a number of letters
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

/// The range that an axis shows; `low` is the larger number if the axis runs the other way.
struct ValueRange {
  double low = 0.0;
  double high = 1.0;
};

/// From zero, or a little below the smallest value if that is negative, to a little above the largest; only
/// finite values count. Never empty: gnuplot fails on an empty range.
ValueRange range_with_zero(const std::vector<double>& values);

/// The range of the finite values, and a part of it below and above; 0 to 1 if no value is finite.
ValueRange range_around(const std::vector<double>& values, double room);

/// A round distance between tics, 1, 2 or 5 times a power of ten, that puts about four into a range.
/// @param range  > 0
double tic_step(double range);

/// A tic that has a name instead of a number.
struct Tic {
  double place = 0.0;
  std::string name;
};

/// How an axis' numbers are written: with room for a sign before them, without, not at all.
enum class Numbers { aligned, plain, none };

/// The tics of an axis.
struct Tics {
  double step = 0.0;                                        ///< 0: wherever they are round
  double first = std::numeric_limits<double>::quiet_NaN();  ///< none below; NaN: from the
                                                            ///< end of the axis
  std::vector<Tic> named = {};                              ///< if there are any, only these
  Numbers numbers = Numbers::aligned;
  double points = 0.0;  ///< size of letters; 0: as elsewhere
  double away = 0.0;    ///< distance of names from the axis in letters;
                        ///< below 0: towards it
  bool upward = false;  ///< read from below
};

/// Names for lines 0, 1, ... of a grid: every n-th, or as many as do not touch.
/// @param inches  that the lines share
/// @param each    inches that a name takes
std::vector<Tic> every_nth(const std::vector<Index>& numbers, std::size_t n);
std::vector<Tic> spaced(const std::vector<Index>& numbers, double inches, double each);

/// 1, 2 and 5 times powers of ten within a range; a few tic_step()s apart where a narrow one holds fewer than
/// two of these.
/// @param range  above 0
std::vector<Tic> round_tics(const ValueRange& range);

/// The same in gnuplot's words.
std::string text_words(const std::string& text);  ///< in quotes; nothing in it can end them or act as a command
std::string font_words(double points, bool bold,
                       const FigureStyle& style);  ///< legible(), or as along axes
std::string color_words(const Ink& ink, const FigureStyle& style);
std::string line_words(const Line& line, const FigureStyle& style);
std::string dot_words(const Dot& dot, const FigureStyle& style);
std::string letter_words(const Letters& letters, const FigureStyle& style);
std::string place_words(const Place& place);
std::string tic_words(const Tics& tics);  ///< their places and names

}  // namespace headwave
