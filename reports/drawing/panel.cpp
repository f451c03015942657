#include "panel.h"

#include <cmath>

#include <fmt/format.h>

namespace headwave {

namespace {

std::string format_words(Numbers numbers) {
  return numbers == Numbers::aligned ? "% h" : numbers == Numbers::plain ? "%g" : "";
}

}  // namespace

Panel::Panel(const PanelGrid& grid, Index row, Index column, const FigureStyle& style)
    : grid_(grid),
      style_(style),
      left_(grid.panel_left(column)),
      right_(left_ + grid.panel_width),
      bottom_(grid.panel_bottom(row)),
      top_(bottom_ + grid.panel_height) {}

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
  const double top = (below ? grid_.legend_below : grid_.height() - grid_.top) - 0.08;
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
      "set lmargin at screen {:.6f}\nset rmargin at screen {:.6f}\nset bmargin at screen {:.6f}\nset tmargin at screen "
      "{:.6f}\n",
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
