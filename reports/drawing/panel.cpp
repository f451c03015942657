#include "panel.h"

#include <cmath>

#include <fmt/format.h>

namespace headwave {

namespace {

std::string format_words(Numbers numbers) {
  return numbers == Numbers::aligned ? "% h" : numbers == Numbers::plain ? "%g" : "";
}

}  // namespace

ColorBar amount_bar(double largest, const std::string& title, double away) {
  return {.away = away, .tics = {.step = tic_step(largest), .first = 0, .points = 6, .away = 0.6}, .title = title};
}

DataTable pixels(const Cells& cells, std::size_t across, std::size_t up) {
  // The middle of a pixel, in cells.
  const auto middle = [](std::size_t pixel, std::size_t block) {
    return (static_cast<double>(pixel) + 0.5) / static_cast<double>(block) - 0.5;
  };
  DataTable table({"x", "y", "amount"});
  for (std::size_t y = 0; y < cells.rows * up; ++y)
    for (std::size_t x = 0; x < cells.columns * across; ++x)
      table.add_row({cells.x(middle(x, across)), cells.y(middle(y, up)), cells.amount(x / across, y / up)});
  return table;
}

Panel::Panel(const PanelGrid& grid, std::size_t row, std::size_t column, const FigureStyle& style)
    : grid_(grid),
      style_(style),
      left_(grid.panel_left(column)),
      right_(left_ + grid.panel.width),
      bottom_(grid.panel_bottom(row)),
      top_(bottom_ + grid.panel.height),
      leftmost_(column == 0),
      lowest_(grid.is_lowest(row * grid.columns + column)) {}

void Panel::part(double low, double high) {
  const double height = top_ - bottom_;
  top_ = bottom_ + high * height;
  bottom_ += low * height;
}

void Panel::x_axis(const ValueRange& range, const Tics& tics) {
  x_.range = range;
  x_.tics = tics;
}

void Panel::y_axis(const ValueRange& range, const Tics& tics) {
  y_.range = range;
  y_.tics = tics;
}

void Panel::common_x_axis(const ValueRange& range, Tics tics) {
  tics.numbers = lowest_ ? Numbers::plain : Numbers::none;
  if (!lowest_)
    for (Tic& tic : tics.named) tic.name.clear();
  x_axis(range, tics);
}

void Panel::common_y_axis(const ValueRange& range, Tics tics) {
  tics.numbers = leftmost_ ? Numbers::plain : Numbers::none;
  if (!leftmost_)
    for (Tic& tic : tics.named) tic.name.clear();
  y_axis(range, tics);
}

void Panel::x_cells(std::size_t count, const Tics& tics) {
  x_axis({-0.5, static_cast<double>(count) - 0.5}, tics);
}

void Panel::y_cells(std::size_t count, const Tics& tics) {
  y_axis({static_cast<double>(count) - 0.5, -0.5}, tics);
}

void Panel::title_below(const std::string& title, double distance) {
  note(title, grid_.at((left_ + right_) / 2, bottom_ - distance), {.anchor = Anchor::center});
}

void Panel::title_left(const std::string& title, double distance) {
  note(title, grid_.at(left_ - distance, (bottom_ + top_) / 2), {.anchor = Anchor::center, .upward = true});
}

void Panel::note(const std::string& text, const Place& place, const Letters& letters) {
  notes_ += fmt::format("set label {} at {} {}\n", text_words(text), place_words(place), letter_words(letters, style_));
}

void Panel::above(const std::string& text, Anchor end, Letters letters) {
  letters.anchor = end;
  const double at = end == Anchor::left ? 0 : end == Anchor::right ? 1 : 0.5;
  note(text, {share(at), share(1)}, letters);
}

void Panel::mark(const Place& place, const Dot& dot, const std::string& text, const Letters& letters) {
  notes_ += fmt::format("set label {} at {} {} {}\n", text_words(text), place_words(place),
                        letter_words(letters, style_), dot_words(dot, style_));
}

void Panel::vertical(double x, const Line& line, const Coordinate& end) {
  segment({value(x), share(0)}, {value(x), end}, line);
}

void Panel::level(double y, const Line& line) {
  segment({share(0), value(y)}, {share(1), value(y)}, line);
}

void Panel::segment(const Place& from, const Place& to, const Line& line) {
  lines_ += fmt::format("set arrow from {} to {} nohead back {}\n", place_words(from), place_words(to),
                        line_words(line, style_));
}

void Panel::rectangle(const Place& from, const Place& to, const Ink& ink) {
  lines_ += fmt::format("set object rectangle from {} to {} fc {} fs solid noborder\n", place_words(from),
                        place_words(to), color_words(ink, style_));
}

void Panel::legend_beside(const std::string& title) {
  const bool below = grid_.legend_below > 0;
  const double x = below ? std::max(0.05, left_ - 0.4) : right_ + 0.1;  // two columns need more than the panel
  const Coordinate top = below ? page_share(grid_.legend_below / grid_.height()) : share(1);
  const auto rows = static_cast<int>(std::lround((grid_.legend_below - legend_margin) / legend_line)) - 1;
  legend_ = fmt::format("set key at {} left top Left reverse {} samplen 3.2 spacing 1.25 title {} left {}",
                        place_words({page_share(x / grid_.width()), top}), below ? fmt::format("maxrows {}", rows) : "",
                        text_words(title), font_words(7.5, false, style_));
}

void Panel::legend_beside(const DotLegend& legend) {
  const bool below = grid_.legend_below > 0;
  const std::size_t rows = below ? (legend.entries.size() + 1) / 2 : legend.entries.size();
  const double left = below ? left_ + 0.06 : right_ + legend.away;
  const double top = (below ? grid_.legend_below : grid_.height() - grid_.margin.top) - 0.08;
  note(legend.title, grid_.at(left - 0.06, top), {.points = 7});
  for (std::size_t i = 0; i < legend.entries.size(); ++i) {
    const double x = left + (i < rows ? 0 : (grid_.width() - left) / 2);
    const double y = top - legend_line * static_cast<double>(i % rows + 1);
    mark(grid_.at(x, y), legend.entries[i].dot);
    note(legend.entries[i].text, grid_.at(x + legend.text_right, y));
  }
}

void Panel::legend_over(double height) {
  legend_ = fmt::format("set key at {} right center horizontal samplen 2.4 width 1",
                        place_words({share(1), page_share(height / grid_.height())}));
}

std::string Panel::margins() const {
  return fmt::format(
      "set lmargin at screen {:.6f}\nset rmargin at screen {:.6f}\nset bmargin "
      "at screen {:.6f}\nset tmargin at screen {:.6f}\n",
      left_ / grid_.width(), right_ / grid_.width(), bottom_ / grid_.height(), top_ / grid_.height());
}

std::string Panel::axis_words(char name, const Axis& axis) const {
  std::string words = fmt::format("set {}range [{}:{}]\n", name, axis.range.low, axis.range.high);
  if (axis.log_base > 0) words += fmt::format("set logscale {} {}\n", name, axis.log_base);
  if (!axis.shown) return words + fmt::format("unset {}tics\n", name);
  const Tics& tics = axis.tics;
  const bool below = name == 'x';
  words += fmt::format("set {}tics nomirror {} offset {},{} {} {}\n", name,
                       tics.upward ? "rotate by 90 right" : "norotate autojustify", below ? 0.0 : -tics.away,
                       below ? -tics.away : 0.0, tic_words(tics), font_words(tics.points, false, style_));
  return words + fmt::format("set format {} \"{}\"\n", name, format_words(tics.numbers));
}

void Panel::plot(const std::string& what, const std::string& with, const std::string& name) {
  if (!plot_.empty()) plot_ += ", \\\n  ";
  plot_ += fmt::format("{} with {} {}", what, with, name.empty() ? "notitle" : "title " + text_words(name));
}

void Panel::plot(const std::string& file, const std::string& columns, const std::string& with,
                 const std::string& name) {
  plot(fmt::format("{} using {}", file, columns), with, name);
}

void Panel::curve(const std::string& file, const std::string& columns, const Line& line, const std::string& name) {
  plot(file, columns, (line.dots > 0 ? "linespoints " : "lines ") + line_words(line, style_), name);
}

void Panel::falling_diagonal(const Line& line, const std::string& name) {
  plot("-x", "lines " + line_words(line, style_), name);
}

void Panel::diagonal(const Line& line) {
  plot("x", "lines " + line_words(line, style_));
}

void Panel::colored_curve(const std::string& file, const std::string& columns, double width, double dots) {
  plot(file, columns, fmt::format("linespoints lc palette lw {} pt 7 ps {}", width, dots), "");
}

void Panel::band(const std::string& file, const std::string& columns, const Ink& ink, double opacity) {
  const std::string fill = opacity > 0 ? fmt::format(" fs transparent solid {} noborder", opacity) : "";
  plot(file, columns, fmt::format("filledcurves lc {}{}", color_words(ink, style_), fill), "");
}

void Panel::area(const std::string& file, const std::string& columns, double level, const Ink& ink, double strength) {
  const std::string fill = strength > 0 ? fmt::format(" fs solid {} noborder", strength) : "";
  plot(file, columns, fmt::format("filledcurves y={} lc {}{}", level, color_words(ink, style_), fill), "");
}

void Panel::heat_map(const std::string& file, const std::string& columns) {
  plot(file, columns, "image", "");
}

void Panel::dots(const std::string& file, const std::string& columns, const Dot& dot, double line_width) {
  plot(file, columns,
       fmt::format("points pt {} ps variable lw {} lc {}", static_cast<int>(dot.shape), line_width,
                   color_words(dot.ink, style_)),
       "");
}

void Panel::strokes(const std::string& file, const std::string& columns, const Line& line) {
  plot(file, columns, "vectors nohead " + line_words(line, style_), "");
}

void Panel::boxes(const std::string& file, const std::string& columns, const Ink& ink) {
  plot(file, columns, "boxxyerror fs solid 1 noborder fc " + color_words(ink, style_), "");
}

void Panel::frames(const std::string& file, const std::string& columns, const Line& line) {
  plot(file, columns, fmt::format("boxxyerror fs empty lc {} lw {}", color_words(line.ink, style_), line.width), "");
}

void Panel::pies(const std::string& file, const std::string& columns, const Ink& ink) {
  plot(file, columns, "circles fs solid 1 noborder lc " + color_words(ink, style_), "");
}

void Panel::texts(const std::string& file, const std::string& columns, const Letters& letters) {
  plot(file, columns, "labels " + letter_words(letters, style_), "");
}

void Panel::x_tic_names(const std::string& file, int place, int text) {
  // Tics come with points; these lie far outside.
  plot(file, fmt::format("{}:(-9):xticlabels({})", place, text), "dots lc " + color_words(ink::paper, style_), "");
}

void Panel::y_tic_names(const std::string& file, int place, int text) {
  plot(file, fmt::format("(-9):{}:yticlabels({})", place, text), "dots lc " + color_words(ink::paper, style_), "");
}

void Panel::color_range(const ValueRange& range, bool logarithmic) {
  colors_ += fmt::format("{}set cbrange [{}:{}]\n", logarithmic ? "set logscale cb\n" : "", range.low, range.high);
}

void Panel::color_bar(const ColorBar& bar) {
  const double height = bar.height > 0 ? bar.height : top_ - bottom_;
  colors_ += fmt::format("set colorbox vertical user origin {} size {:.6f},{:.6f} border\n",
                         place_words(grid_.at(right_ + bar.away, top_ - height)), bar.width / grid_.width(),
                         height / grid_.height());
  colors_ += fmt::format("set cbtics {} {} offset {},0 scale {}\n", tic_words(bar.tics),
                         font_words(bar.tics.points, false, style_), -bar.tics.away, bar.title.empty() ? 0.5 : 0.4);
  if (bar.tics.numbers == Numbers::plain) colors_ += "set format cb \"%g\"\n";
  colors_ += fmt::format("set cblabel {} {} offset {},0\n", text_words(bar.title), font_words(6.5, false, style_),
                         bar.title_right);
}

void Panel::common_color_bar(ColorBar bar) {
  bar.away += grid_.width() - grid_.margin.right - right_;
  color_bar(bar);
}

std::string Panel::script() const {
  std::string words = margins();
  words += "unset label\nunset arrow\nunset object\nunset logscale\nunset key\nunset colorbox\n";
  words += frame_ == Frame::base_line ? fmt::format("set border 1 lw 0.6 lc {}\n", color_words(ink::base_line, style_))
                                      : fmt::format("set border {} lw 0.8 lc {}\n", frame_ == Frame::none ? 0 : 31,
                                                    color_words(ink::frame, style_));
  const double length = frame_ == Frame::none ? 0 : tic_length_;
  words += fmt::format("set tics out nomirror scale {0},{1}{2}\n", length, length / 2,
                       frame_ == Frame::none ? " textcolor " + color_words(ink::frame, style_) : "");
  words += axis_words('x', x_) + axis_words('y', y_);
  if (!upper_.empty()) words += "set link x2\nset x2tics out offset 0,-0.3 " + tic_words({.named = upper_}) + '\n';
  words += lines_ + notes_ + colors_;
  if (!legend_.empty()) words += legend_ + '\n';
  return words + "plot " + plot_ + '\n';
}

}  // namespace headwave
