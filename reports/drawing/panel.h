#pragma once

#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "data_table.h"
#include "palette.h"

namespace headwave {

/// The smallest size of letters on paper, in points.
inline constexpr double least_letters = 6.0;

/// Makes one coordinate of a Place, in gnuplot's syntax. value() takes a number on the axis. share() takes a
/// part of the panel's width or height (0: left or lower edge), and page_share() a part of the page's.
std::string value(double number);
std::string share(double part);
std::string page_share(double part);

/// A point on a panel or a page; its coordinates come from value(), share() or page_share().
struct Place {
  std::string x, y;
};

/// Equal panels in rows and columns on one page. Lengths are in inches. Row 0 is at the top.
struct PanelGrid {
  std::size_t rows = 1, columns = 1;
  struct Size {
    double width = 3.0, height = 2.0;
  } panel = {};
  struct Gap {
    double x = 0.0, y = 0.0;  ///< x: between panels of a row (for tic labels or a colour bar); y: between rows
  } gap = {};
  struct Margin {
    double left = 0.66, right = 0.14, top = 0.3, bottom = 0.5;
  } margin = {};           ///< of the page
  std::size_t panels = 0;  ///< number of panels, if the last row is not full; 0: rows * columns

  [[nodiscard]] double width() const;
  [[nodiscard]] double height() const;
  [[nodiscard]] double panel_left(std::size_t column) const;
  [[nodiscard]] double panel_bottom(std::size_t row) const;
  /// Whether panel k has no panel below it. Panels are numbered row by row.
  [[nodiscard]] bool is_lowest(std::size_t k) const { return k + columns >= (panels > 0 ? panels : rows * columns); }
  /// The point at distances x and y, in inches, from the page's left and lower edges.
  [[nodiscard]] Place at(double x, double y) const { return {page_share(x / width()), page_share(y / height())}; }
};

/// The style of a line. The line has dots on it if `dots` is above 0.
struct Line {
  Ink ink = ink::text;
  double width = 1.0;     ///< half points
  std::string dash = {};  ///< gnuplot's pattern of '-', '_', '.' and spaces, or a pattern's number; empty: solid
  double dots = 0.0;      ///< size of the dots; 1 is about 0.09 inches
  int point = 7;          ///< shape of the dots, by gnuplot's numbers
};

/// The style of line i: a colour, a dash and a shape of dots, so that lines also differ in black and white.
Line categorical_line(Index i, double width = 1.8, double dots = 0.0);

/// Which part of a text is put at the text's Place.
enum class Anchor { left, center, right };

struct Letters {
  double points = 0.0;  ///< size of the letters; 0: as along axes
  bool bold = false;
  Ink ink = ink::text;
  Anchor anchor = Anchor::left;
  double right = 0.0, up = 0.0;  ///< shift to the right and upwards, in letters
  double up_share = 0.0;         ///< shift upwards as a part of the panel's height; replaces `up` unless 0
  bool upward = false;           ///< reads from bottom to top
  bool front = false;            ///< drawn in front of the curves
};

/// The distance between tics that puts about four tics into a range: 1, 2 or 5 times a power of ten.
/// @param range  > 0
double tic_step(double range);

/// The range of an axis. `low` is larger than `high` if the axis runs to the left, or downwards.
struct ValueRange {
  double low = 0.0;
  double high = 1.0;
};

/// The range of an axis that includes zero: from zero, or from a little below the smallest value if that is
/// negative, to a little above the largest. Only finite values count. The range is never empty, because
/// gnuplot fails on an empty range.
ValueRange range_with_zero(std::span<const double> values);

/// The range of the finite numbers above 0; {0, 0} if there are none.
ValueRange positive_range(std::span<const double> values);

/// The largest finite number, but at least `least`.
double largest_of(std::span<const double> numbers, double least = 0.0);

/// A tic of an axis that is labelled with a name instead of its number.
struct Tic {
  double place = 0.0;
  std::string name;
};

/// Whether numbers on an axis are written with room for a sign (aligned), without it (plain), or not at all.
enum class Numbers { aligned, plain, none };

struct Tics {
  double step = 0.0;                                        ///< 0: gnuplot chooses round places
  double first = std::numeric_limits<double>::quiet_NaN();  ///< the lowest tic; NaN: tics begin at the end of the axis
  std::vector<Tic> named = {};                              ///< tics with names; if there are any, no others
  Numbers numbers = Numbers::aligned;
  double points = 0.0;  ///< size of letters; 0: as along other axes
  double away = 0.0;    ///< distance of the labels from the axis, in letters; negative: towards the axis
  bool upward = false;  ///< reads from bottom to top
};

/// Makes tics that label cells 0, 1, ... with these numbers, for as many cells as labels fit side by side.
/// @param inches  length of all cells together
/// @param each    length that a label takes, in inches
std::vector<Tic> spaced(const std::vector<Index>& numbers, double inches, double each);

/// An axis of a panel, and its title.
struct PanelAxis {
  ValueRange range = {};
  Tics tics = {};
  int log = 0;             ///< base of a logarithmic axis; 0: linear
  bool common = false;     ///< only the lowest (x) or leftmost (y) panel has numbers and title
  std::string title = {};  ///< centred beside the axis
  double away = 0.0;       ///< inches from the frame to the title; 0: 0.37 below, 0.5 at the left
  bool shown = true;
};

/// Axes for the cells 0, 1, ... of a heat map: columns across, and rows down with row 0 at the top.
PanelAxis cells_across(std::size_t count, const Tics& tics = {});
PanelAxis cells_down(std::size_t count, const Tics& tics = {});

enum class Frame { whole, base_line, none };

/// A bar that explains a heat map's colours, at the right of a panel.
struct ColorBar {
  double away = 0.08;   ///< inches from the panel
  double width = 0.08;  ///< inches
  Tics tics;
  std::string title = {};
  double title_right = 0.0;  ///< shift of the title, in letters
  bool common = false;       ///< one bar for the panels of all columns, at the right of the last column
};

/// Makes a colour bar for amounts from 0 to `largest`, with small numbers.
ColorBar amount_bar(double largest, const std::string& title, double away);

/// The content of a heat map: an amount for each cell, and where columns and rows are on the axes. Each cell
/// is drawn as a block of pixels, because gnuplot draws no image of one row or column, and viewers may smooth
/// small images.
struct Cells {
  std::size_t columns = 0, rows = 0;
  std::function<double(std::size_t column, std::size_t row)> amount;
  std::size_t across = 4, up = 4;                                                 ///< pixels of a cell
  std::function<double(double column)> x = [](double column) { return column; };  ///< place; 0.0: middle of column 0
  std::function<double(double row)> y = [](double row) { return row; };
};

struct LegendEntry {
  std::string title;
  Line line;
};

/// Write a text, a colour or a line in gnuplot's syntax.
std::string text_words(const std::string& text);  ///< quoted; no text can end the quotes or act as a command
std::string color_words(Ink ink);
std::string line_words(const Line& line);

/// Data to plot: rows; how gnuplot draws them (`with`); and which columns it uses (`columns`; empty: all).
struct Series {
  Rows rows;
  std::string with, columns = {};
};

/// One panel of a figure: its axes, plotted data and texts.
///
///     Panel& panel = figure.panels[0];
///     panel.x = {.range = {-16, 16}, .tics = {.step = 10}, .title = "offset t = key − query (tokens)"};
///     panel.vertical(0, {ink::zero_line, 0.7});
///     panel.curve(offsets, weights, {ink::measured, 1.3});
///
/// gnuplot's commands contain only strings from this code. Numbers and texts of a result reach gnuplot only
/// in data blocks and through text_words(), so that no token or path can act as a command.
class Panel {
 public:
  /// @param row, column  place in the grid, from 0
  Panel(const PanelGrid& grid, std::size_t row, std::size_t column);

  PanelAxis x, y;
  std::vector<Tic> upper = {};  ///< tics above the panel, at places on the x axis
  Frame frame = Frame::whole;
  double tic_length = 0.5;
  ValueRange colors = {};           ///< range of the amounts that the colours show
  std::vector<Series> series = {};  ///< plotted data; later entries cover earlier ones
  std::vector<Panel> others = {};   ///< panels in other parts of the same place in the grid

  /// Restricts the panel to the part of its height between the shares `low` and `high` (0: bottom, 1: top).
  void part(double low, double high);

  [[nodiscard]] bool is_leftmost() const { return leftmost_; }
  [[nodiscard]] bool is_lowest() const { return lowest_; }
  [[nodiscard]] double width() const { return right_ - left_; }
  [[nodiscard]] double height() const { return top_ - bottom_; }
  [[nodiscard]] const PanelGrid& grid() const { return grid_; }

  /// The point `right` inches to the right of the panel's left edge and `up` inches above its upper edge.
  [[nodiscard]] Place over(double right, double up) const { return grid_.at(left_ + right, top_ + up); }
  /// Write a text at a place, or above the panel's left or right end.
  void note(const std::string& text, const Place& place, const Letters& letters = {});
  void above(const std::string& text, Anchor end, Letters letters) {
    letters.anchor = end;
    note(text, {share(end == Anchor::left ? 0 : 1), share(1)}, letters);
  }
  /// Writes the panel's name in bold above its left end.
  void name(const std::string& text, double points = 8, double up = 0.5) {
    above(text, Anchor::left, {.points = points, .bold = true, .up = up});
  }
  /// Marks the most important number with a dot or a ring, and writes a text beside it.
  void mark(const Place& place, double size, const std::string& text = "", const Letters& letters = {},
            bool ring = false);

  /// Draw straight lines behind the plotted data. level() and, by default, vertical() cross the whole panel.
  void vertical(double at, const Line& line, const std::string& end = share(1)) {
    segment({value(at), share(0)}, {value(at), end}, line);
  }
  void level(double at, const Line& line) { segment({share(0), value(at)}, {share(1), value(at)}, line); }
  void segment(const Place& from, const Place& to, const Line& line);

  void curve(std::span<const double> xs, std::span<const double> ys, const Line& line);
  /// Draws a curve in the colour that the figure's palette gives the number `color`.
  void colored_curve(std::span<const double> xs, std::span<const double> ys, double color, double width, double dots);
  /// Fill the area between two curves (opacity 0: opaque), or a curve and a level (strength 0: full ink).
  void band(std::span<const double> xs, std::span<const double> low, std::span<const double> high, Ink ink,
            double opacity = 0.0);
  void area(std::span<const double> xs, std::span<const double> ys, double level, Ink ink, double strength = 0.0);
  /// Draws dots. Each row is x, y, size.
  void dots(Rows rows, Ink ink) { plot(std::move(rows), "points pt 7 ps variable lw 1 lc " + color_words(ink)); }
  /// Draws boxes. Each row is x, y, half the width, half the height.
  void boxes(Rows rows, Ink ink) { plot(std::move(rows), "boxxyerror fs solid 1 noborder fc " + color_words(ink)); }
  /// Draws sectors. Each row is x, y, radius, first angle, last angle (degrees, anticlockwise from the
  /// right).
  void pies(Rows rows, Ink ink) { plot(std::move(rows), "circles fs solid 1 noborder lc " + color_words(ink)); }
  /// Writes texts. Each row is x, y, text.
  void texts(Rows rows, const Letters& letters);
  /// Label tics. Each row is place, text. gnuplot labels tics at plotted points; these lie outside the panel.
  void x_tic_names(Rows rows) { plot(std::move(rows), "dots", "1:(-9):xticlabels(2)"); }
  void y_tic_names(Rows rows) { plot(std::move(rows), "dots", "(-9):1:yticlabels(2)"); }
  /// @param amounts  range of the amounts that the colours show
  void heat_map(const Cells& cells, const ValueRange& amounts);
  void color_bar(ColorBar bar);

  /// Writes gnuplot's commands for the whole panel.
  /// @param blocks  number of data blocks in earlier panels; the call adds the number of blocks in this panel
  [[nodiscard]] std::string script(std::size_t& blocks) const;

 private:
  void plot(Rows rows, const std::string& with, const std::string& columns = {});

  PanelGrid grid_;
  double left_, right_, bottom_, top_;  // inches
  bool leftmost_, lowest_;
  std::string lines_, notes_, colors_;
};

}  // namespace headwave
