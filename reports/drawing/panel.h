#pragma once

#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "data_table.h"
#include "palette.h"

namespace headwave {

/// The smallest size of letters, in points on paper.
inline constexpr double least_letters = 6.0;

/// One of a place's two coordinates, in gnuplot's words: on the axis; as a part of the panel's width or height, 0 left or
/// below; as a part of the page's.
std::string value(double number);
std::string share(double part);
std::string page_share(double part);

/// Where something stands on a panel or a page.
struct Place {
  std::string x, y;
};

/// Equal panels in rows and columns on one page, everything in inches. Row 0 is the top one.
struct PanelGrid {
  std::size_t rows = 1, columns = 1;
  struct Size {
    double width = 3.0, height = 2.0;
  } panel = {};
  struct Gap {
    double x = 0.0, y = 0.0;  ///< between two panels of a row, for tic labels or a colour bar, and of a column
  } gap = {};
  struct Margin {
    double left = 0.66, right = 0.14, top = 0.3, bottom = 0.5;
  } margin = {};           ///< of the page
  std::size_t panels = 0;  ///< how many there are, where the last row is not full; 0: rows * columns

  [[nodiscard]] double width() const;
  [[nodiscard]] double height() const;
  [[nodiscard]] double panel_left(std::size_t column) const;
  [[nodiscard]] double panel_bottom(std::size_t row) const;
  /// Whether no panel stands below panel k; panels follow each other row by row.
  [[nodiscard]] bool is_lowest(std::size_t k) const { return k + columns >= (panels > 0 ? panels : rows * columns); }
  /// A point given in inches from the page's left and lower edge.
  [[nodiscard]] Place at(double x, double y) const { return {page_share(x / width()), page_share(y / height())}; }
};

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

/// 1, 2 or 5 times a power of ten that puts about four tics into a range.
/// @param range  > 0
double tic_step(double range);

/// The range that an axis shows; `low` is the larger number if the axis runs the other way.
struct ValueRange {
  double low = 0.0;
  double high = 1.0;
};

/// From zero, or a little below the smallest value if that is negative, to a little above the largest; only
/// finite values count. Never empty: gnuplot fails on an empty range.
ValueRange range_with_zero(std::span<const double> values);

/// The smallest and the largest finite number above 0; {0, 0} if there is none.
ValueRange positive_range(std::span<const double> values);

/// The largest finite number, and `least` at least.
double largest_of(std::span<const double> numbers, double least = 0.0);

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
  double first = std::numeric_limits<double>::quiet_NaN();  ///< none below; NaN: from the end of the axis
  std::vector<Tic> named = {};                              ///< if there are any, only these
  Numbers numbers = Numbers::aligned;
  double points = 0.0;  ///< size of letters; 0: as elsewhere
  double away = 0.0;    ///< distance of names from the axis in letters; below 0: towards it
  bool upward = false;  ///< read from below
};

/// Names for cells 0, 1, ...: as many as do not touch.
/// @param inches  that the cells share
/// @param each    inches that a name takes
std::vector<Tic> spaced(const std::vector<Index>& numbers, double inches, double each);

/// An axis of a panel, and its title.
struct PanelAxis {
  ValueRange range = {};
  Tics tics = {};
  int log = 0;             ///< base of a logarithmic axis; 0: linear
  bool common = false;     ///< of all panels of a column or row: numbers and title at the lowest, or leftmost, alone
  std::string title = {};  ///< centred beside the axis
  double away = 0.0;       ///< inches from the frame to the title; 0: 0.37 below, 0.5 at the left
  bool shown = true;
};

/// The axis of cells 0, 1, ..., with names; y axes run downwards.
PanelAxis cells_across(std::size_t count, const Tics& tics = {});
PanelAxis cells_down(std::size_t count, const Tics& tics = {});

/// The frame of a panel.
enum class Frame { whole, base_line, none };

/// A bar of the heat map's colours right of a panel.
struct ColorBar {
  double away = 0.08;   ///< inches from the panel
  double width = 0.08;  ///< inches
  Tics tics;
  std::string title = {};
  double title_right = 0.0;  ///< letters by which the title is moved
  bool common = false;       ///< stands right of the last column, for the panels of all columns
};

/// The bar of amounts from 0 to the largest, with small numbers.
ColorBar amount_bar(double largest, const std::string& title, double away);

/// A heat map: amounts in columns and rows, and where they stand on the axes. Every cell is a block of pixels: viewers
/// that smooth small images then soften edges only, and gnuplot draws no image of a single row or column.
struct Cells {
  std::size_t columns = 0, rows = 0;
  std::function<double(std::size_t column, std::size_t row)> amount;
  std::size_t across = 4, up = 4;                                                 ///< pixels to a cell
  std::function<double(double column)> x = [](double column) { return column; };  ///< 0.0 is the first one's middle
  std::function<double(double row)> y = [](double row) { return row; };
};

/// One line of a legend.
struct LegendEntry {
  std::string title;
  Line line;
};

/// In gnuplot's words.
std::string text_words(const std::string& text);  ///< in quotes; nothing in it can end them or act as a command
std::string color_words(Ink ink);
std::string line_words(const Line& line);

/// Something plotted: rows, and gnuplot's words for how. Columns are taken in their order unless `columns` says.
struct Series {
  Rows rows;
  std::string with, columns = {};
};

/// One panel of a figure: axes, what is plotted, and words. Nothing of one panel affects another.
///
///     Panel& panel = figure.panel(0);
///     panel.x = {.range = {-16, 16}, .tics = {.step = 10}, .title = "offset t = key − query (tokens)"};
///     panel.vertical(0, {ink::zero_line, 0.7});
///     panel.curve(offsets, weights, {ink::measured, 1.3});
///
/// Words are our own. Numbers and texts of a result reach gnuplot in data blocks only, so no token or path can act as a
/// command.
class Panel {
 public:
  /// @param row, column  place in the grid, from 0
  Panel(const PanelGrid& grid, std::size_t row, std::size_t column);

  PanelAxis x, y;
  std::vector<Tic> upper = {};  ///< names above the panel, at places of the x axis
  Frame frame = Frame::whole;
  double tic_length = 0.5;
  ValueRange colors = {};           ///< of amounts that the colours show
  std::vector<Series> series = {};  ///< what was plotted, first below
  std::vector<Panel> others = {};   ///< in other parts of the same place

  /// Restricts the panel to a part of its height, between two shares of it.
  void part(double low, double high);

  [[nodiscard]] bool is_leftmost() const { return leftmost_; }
  [[nodiscard]] bool is_lowest() const { return lowest_; }
  [[nodiscard]] double width() const { return right_ - left_; }
  [[nodiscard]] double height() const { return top_ - bottom_; }
  [[nodiscard]] const PanelGrid& grid() const { return grid_; }

  /// A place given in inches right of the panel's left edge and above its upper edge.
  [[nodiscard]] Place over(double right, double up) const { return grid_.at(left_ + right, top_ + up); }
  /// A text at a place; a text above the panel's left or right end.
  void note(const std::string& text, const Place& place, const Letters& letters = {});
  void above(const std::string& text, Anchor end, Letters letters) {
    letters.anchor = end;
    note(text, {share(end == Anchor::left ? 0 : 1), share(1)}, letters);
  }
  /// The panel's name: bold, above its left end.
  void name(const std::string& text, double points = 8, double up = 0.5) {
    above(text, Anchor::left, {.points = points, .bold = true, .up = up});
  }
  /// The number to look at: a dot, or a ring, with a text beside it.
  void mark(const Place& place, double size, const std::string& text = "", const Letters& letters = {},
            bool ring = false);

  /// Straight lines across the whole panel, drawn below what is plotted.
  void vertical(double at, const Line& line, const std::string& end = share(1)) {
    segment({value(at), share(0)}, {value(at), end}, line);
  }
  void level(double at, const Line& line) { segment({share(0), value(at)}, {share(1), value(at)}, line); }
  void segment(const Place& from, const Place& to, const Line& line);

  void curve(std::span<const double> xs, std::span<const double> ys, const Line& line);
  /// Coloured by numbers.
  void colored_curve(std::span<const double> xs, std::span<const double> ys, double color, double width, double dots);
  /// Filled between two curves, transparent if an opacity below 1 is given; and down to a level, paler if a strength
  /// below 1 is given.
  void band(std::span<const double> xs, std::span<const double> low, std::span<const double> high, Ink ink,
            double opacity = 0.0);
  void area(std::span<const double> xs, std::span<const double> ys, double level, Ink ink, double strength = 0.0);
  /// Rows of x, y, size.
  void dots(Rows rows, Ink ink) { plot(std::move(rows), "points pt 7 ps variable lw 1 lc " + color_words(ink)); }
  /// Rows of x, y, half the width and half the height.
  void boxes(Rows rows, Ink ink) { plot(std::move(rows), "boxxyerror fs solid 1 noborder fc " + color_words(ink)); }
  /// Rows of x, y, radius, and begin and end in degrees, anticlockwise from the right.
  void pies(Rows rows, Ink ink) { plot(std::move(rows), "circles fs solid 1 noborder lc " + color_words(ink)); }
  /// Rows of x, y, text.
  void texts(Rows rows, const Letters& letters);
  /// Rows of places and texts as names of tics. Tics come with points; these lie far outside.
  void x_tic_names(Rows rows) { plot(std::move(rows), "dots", "1:(-9):xticlabels(2)"); }
  void y_tic_names(Rows rows) { plot(std::move(rows), "dots", "(-9):1:yticlabels(2)"); }
  /// With the range of amounts that the colours show.
  void heat_map(const Cells& cells, const ValueRange& amounts);
  void color_bar(ColorBar bar);

  /// gnuplot's commands for the whole panel.
  /// @param blocks  number of data blocks of the panels before; raised by this panel's
  [[nodiscard]] std::string script(std::size_t& blocks) const;

 private:
  void plot(Rows rows, const std::string& with, const std::string& columns = {});

  PanelGrid grid_;
  double left_, right_, bottom_, top_;  // inches
  bool leftmost_, lowest_;
  std::string lines_, notes_, colors_;
};

}  // namespace headwave
