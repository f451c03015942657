#pragma once

#include <functional>
#include <string>
#include <vector>

#include "data_table.h"
#include "panel_grid.h"
#include "strokes.h"

namespace headwave {

/// The frame of a panel.
enum class Frame { whole, base_line, none };

/// A bar of the heat map's colours right of a panel.
struct ColorBar {
  double away = 0.08;   ///< inches from the panel
  double width = 0.08;  ///< inches
  double height = 0.0;  ///< inches from the panel's top down; 0: as tall as the panel
  Tics tics;
  std::string title = {};
  double title_right = 0.0;  ///< letters by which the title is moved
};

/// The bar of amounts from 0 to the largest, with small numbers.
ColorBar amount_bar(double largest, const std::string& title = {}, double away = 0.08);

/// The cells of a heat map: amounts in columns and rows, and where they stand on the axes.
struct Cells {
  std::size_t columns = 0, rows = 0;
  std::function<double(std::size_t column, std::size_t row)> amount;
  std::function<double(double column)> x = [](double column) { return column; };  ///< 0.0 is the first one's middle
  std::function<double(double row)> y = [](double row) { return row; };
};

/// Every cell as a block of pixels, x, y and amount of each: viewers that smooth small images then soften
/// edges only. gnuplot draws no image of a single row or column of pixels.
/// @param across  pixels to a cell
/// @param up      pixels to a cell
DataTable pixels(const Cells& cells, std::size_t across, std::size_t up);

/// Explains dots of several inks, in a column.
struct DotLegend {
  struct Entry {
    Dot dot;
    std::string text;
  };
  std::string title = {};
  std::vector<Entry> entries;
  double away = 0.16, text_right = 0.1;  ///< inches from the panel to the dots,
                                         ///< and from these to their texts
};

/// One panel of a page: axes, curves and words. Nothing of one panel affects another.
///
/// What is plotted comes from a block of data that Page::data() or Page::numbers() names. Columns count from
/// 1: "3:4" is column 4 over column 3, and "3:($4/2)" half of it. Words are our own; texts of a result go
/// into data, see texts().
class Panel {
 public:
  /// @param row, column  place in the grid, from 0
  Panel(const PanelGrid& grid, std::size_t row, std::size_t column, const FigureStyle& style);

  /// Restricts the panel to a part of its height, between two shares of it.
  void part(double low, double high);

  [[nodiscard]] bool is_leftmost() const { return leftmost_; }
  [[nodiscard]] bool is_lowest() const { return lowest_; }

  void x_axis(const ValueRange& range, const Tics& tics = {});
  void y_axis(const ValueRange& range, const Tics& tics = {});
  /// Axes that all panels of a column, or of a row, have in common: named at the lowest, or leftmost, alone.
  void common_x_axis(const ValueRange& range, Tics tics = {});
  void common_y_axis(const ValueRange& range, Tics tics = {});
  /// Axes of cells 0, 1, ..., the y axis downwards.
  void x_cells(std::size_t count, const Tics& tics = {});
  void y_cells(std::size_t count, const Tics& tics = {});
  void without_x_tics() { x_.shown = false; }
  void without_y_tics() { y_.shown = false; }
  void x_logarithmic(int base = 10) { x_.log_base = base; }
  void y_logarithmic(int base = 10) { y_.log_base = base; }
  /// A second axis above the panel with names at places of the x axis.
  void upper_axis(const std::vector<Tic>& tics) { upper_ = tics; }
  void frame(Frame frame) { frame_ = frame; }
  void tic_length(double length) { tic_length_ = length; }  ///< 0.5 is usual

  /// Titles of the axes, at distances in inches from the frame.
  void title_below(const std::string& title, double distance = 0.37);
  void title_left(const std::string& title, double distance = 0.5);
  /// A place given in inches right of the panel's left edge and above its upper edge.
  [[nodiscard]] Place over(double right, double up) const { return grid_.at(left_ + right, top_ + up); }
  [[nodiscard]] double width() const { return right_ - left_; }
  [[nodiscard]] double height() const { return top_ - bottom_; }
  /// A text at a place; a text above the panel's left or right end, in letters that small panels have room
  /// for.
  void note(const std::string& text, const Place& place, const Letters& letters = {});
  void above(const std::string& text, Anchor end, Letters letters);
  /// A dot with a text beside it.
  void mark(const Place& place, const Dot& dot, const std::string& text = "", const Letters& letters = {});

  /// Straight lines across the whole panel, drawn below the curves.
  void vertical(double x, const Line& line, const Coordinate& end = share(1));
  void level(double y, const Line& line);
  void segment(const Place& from, const Place& to, const Line& line);
  void rectangle(const Place& from, const Place& to, const Ink& ink);

  /// x:y, with a name for the legend that legend_beside() or legend_over() shows.
  void curve(const std::string& file, const std::string& columns, const Line& line, const std::string& name = "");
  /// The line y = -x.
  void falling_diagonal(const Line& line, const std::string& name = "");
  /// The line y = x.
  void diagonal(const Line& line);
  /// x:y:c, coloured by c.
  void colored_curve(const std::string& file, const std::string& columns, double width, double dots);
  /// x:low:high as a filled band, transparent if an opacity below 1 is given; and x:y filled down to a level,
  /// paler if a strength below 1 is given.
  void band(const std::string& file, const std::string& columns, const Ink& ink, double opacity = 0.0);
  void area(const std::string& file, const std::string& columns, double level, const Ink& ink, double strength = 0.0);
  /// x:y:amount of every pixel of an image.
  void heat_map(const std::string& file, const std::string& columns = "1:2:3");
  /// x:y:size.
  void dots(const std::string& file, const std::string& columns, const Dot& dot, double line_width = 1.0);
  /// x:y:across:up, a stroke from a point.
  void strokes(const std::string& file, const std::string& columns, const Line& line);
  /// x:y:left:right:bottom:top, or x:y:half width:half height.
  void boxes(const std::string& file, const std::string& columns, const Ink& ink);
  /// The same, empty.
  void frames(const std::string& file, const std::string& columns, const Line& line);
  /// x:y:radius:begin:end in degrees, anticlockwise from the right.
  void pies(const std::string& file, const std::string& columns, const Ink& ink);
  /// x:y:text.
  void texts(const std::string& file, const std::string& columns, const Letters& letters);
  /// Texts of a column as names of tics: the columns of their places and of the texts.
  void x_tic_names(const std::string& file, int place, int text);
  void y_tic_names(const std::string& file, int place, int text);

  /// The range of amounts that a heat map's or coloured curve's colours show, and a bar that says so.
  void color_range(const ValueRange& range, bool logarithmic = false);
  void color_bar(const ColorBar& bar);
  /// The same right of the last column, for the panels of all columns.
  void common_color_bar(ColorBar bar);

  /// Names of the curves, or of dots, in the room that with_legend_beside() left; and of curves in a row that
  /// ends with the panel, at a height in inches of the page.
  void legend_beside(const std::string& title);
  void legend_beside(const DotLegend& legend);
  void legend_over(double height);

  /// gnuplot's commands for all of it.
  [[nodiscard]] std::string script() const;

 private:
  struct Axis {
    ValueRange range;
    Tics tics;
    bool shown = true;
    int log_base = 0;
  };
  [[nodiscard]] std::string margins() const;
  [[nodiscard]] std::string axis_words(char name, const Axis& axis) const;
  void plot(const std::string& what, const std::string& with, const std::string& name = "");
  void plot(const std::string& file, const std::string& columns, const std::string& with, const std::string& name);

  PanelGrid grid_;
  FigureStyle style_;
  double left_, right_, bottom_, top_;  // inches
  bool leftmost_, lowest_;
  Axis x_, y_;
  std::vector<Tic> upper_;
  Frame frame_ = Frame::whole;
  double tic_length_ = 0.5;
  std::string notes_, lines_, colors_, legend_, plot_;
};

}  // namespace headwave
