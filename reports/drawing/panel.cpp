#include "panel.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "gnuplot.h"
#include "visible_text.h"

namespace headwave {

namespace {

std::string font_words(double points, bool bold) {
  const char* weight = bold ? ":Bold" : "";
  return points > 0 ? fmt::format("font \"{}{},{:.2f}\"", font_name, weight, std::max(points, least_letters))
                    : fmt::format("font \"{}{}\"", font_name, weight);
}

std::string place_words(const Place& place) {
  return place.x + ", " + place.y;
}

std::string letter_words(const Letters& letters) {
  constexpr std::array anchors{"left", "center", "right"};
  std::string words = anchors[static_cast<std::size_t>(letters.anchor)];
  if (letters.upward) words += " rotate by 90";
  if (letters.up_share != 0)
    words += fmt::format(" offset {},graph {:.4f}", letters.right, letters.up_share);
  else if (letters.right != 0 || letters.up != 0)
    words += fmt::format(" offset {},{}", letters.right, letters.up);
  if (letters.points > 0 || letters.bold) words += " " + font_words(letters.points, letters.bold);
  words += fmt::format(" tc {}", color_words(letters.ink));
  return letters.front ? words + " front" : words;
}

/// The places and names of tics.
std::string tic_words(const Tics& tics) {
  std::string list;
  for (const Tic& tic : tics.named)
    list += fmt::format("{}{} {}", list.empty() ? "" : ", ", text_words(tic.name), tic.place);
  if (!list.empty()) return fmt::format("({})", list);
  if (!(tics.step > 0)) return "autofreq";
  return std::isnan(tics.first) ? fmt::format("{}", tics.step) : fmt::format("{},{}", tics.first, tics.step);
}

/// @param named  whether this panel has the numbers of an axis that several panels share
std::string axis_words(char which, const PanelAxis& axis, bool named) {
  std::string words = fmt::format("set {}range [{}:{}]\n", which, axis.range.low, axis.range.high);
  if (axis.log > 0) words += fmt::format("set logscale {} {}\n", which, axis.log);
  if (!axis.shown) return words + fmt::format("unset {}tics\n", which);
  Tics tics = axis.tics;
  if (axis.common) tics.numbers = named ? Numbers::plain : Numbers::none;
  if (axis.common && !named)
    for (Tic& tic : tics.named) tic.name.clear();
  const bool below = which == 'x';
  constexpr std::array formats{"% h", "%g", ""};
  return words + fmt::format("set {}tics nomirror {} offset {},{} {} {}\nset format {} \"{}\"\n", which,
                             tics.upward ? "rotate by 90 right" : "norotate autojustify", below ? 0.0 : -tics.away,
                             below ? -tics.away : 0.0, tic_words(tics), font_words(tics.points, false), which,
                             formats[static_cast<std::size_t>(tics.numbers)]);
}

/// Turns columns of numbers into rows, as many as the shortest column has.
Rows rows_of(std::initializer_list<std::span<const double>> columns) {
  std::size_t count = std::numeric_limits<std::size_t>::max();
  for (const auto& column : columns) count = std::min(count, column.size());
  Rows rows(count);
  for (std::size_t i = 0; i < count; ++i)
    for (const auto& column : columns) rows[i].emplace_back(column[i]);
  return rows;
}

}  // namespace

std::string value(double number) {
  return fmt::format("first {}", number);
}

std::string share(double part) {
  return fmt::format("graph {:.6f}", part);
}

std::string page_share(double part) {
  return fmt::format("screen {:.6f}", part);
}

Line categorical_line(Index i, double width, double dots) {
  constexpr std::array dashes{"", "_", "-", "_.", "."};
  constexpr std::array points{7, 5, 13, 6, 4, 12, 2, 1};
  const auto n = static_cast<std::size_t>(i);
  return {categorical(i), width, dashes[(n + n / points.size()) % dashes.size()], dots, points[n % points.size()]};
}

ValueRange range_with_zero(std::span<const double> values) {
  double low = 0, high = 0;
  for (const double value : values)
    if (std::isfinite(value)) {
      low = std::min(low, value);
      high = std::max(high, value);
    }
  if (!(high > low)) return {};
  const double room = 0.07 * (high - low);
  return {low < 0 ? low - room : 0.0, high + room};
}

ValueRange positive_range(std::span<const double> values) {
  ValueRange range{0, 0};
  for (const double value : values)
    if (std::isfinite(value) && value > 0)
      range = {range.low > 0 ? std::min(range.low, value) : value, std::max(range.high, value)};
  return range;
}

double largest_of(std::span<const double> numbers, double least) {
  for (const double number : numbers)
    if (std::isfinite(number)) least = std::max(least, number);
  return least;
}

double tic_step(double range) {
  const double rough = range / 4;
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  const double digit = rough / power;
  return power * (digit < 1.5 ? 1 : digit < 3.5 ? 2 : digit < 7.5 ? 5 : 10);
}

std::vector<Tic> spaced(const std::vector<Index>& numbers, double inches, double each) {
  const double n = std::ceil(each * static_cast<double>(numbers.size()) / inches);
  std::vector<Tic> tics;
  for (std::size_t i = 0; i < numbers.size(); i += static_cast<std::size_t>(std::max(1.0, n)))
    tics.push_back({static_cast<double>(i), fmt::format("{}", numbers[i])});
  return tics;
}

PanelAxis cells_across(std::size_t count, const Tics& tics) {
  return {.range = {-0.5, static_cast<double>(count) - 0.5}, .tics = tics};
}

PanelAxis cells_down(std::size_t count, const Tics& tics) {
  return {.range = {static_cast<double>(count) - 0.5, -0.5}, .tics = tics};
}

ColorBar amount_bar(double largest, const std::string& title, double away) {
  return {.away = away, .tics = {.step = tic_step(largest), .first = 0, .points = 6, .away = 0.6}, .title = title};
}

std::string text_words(const std::string& text) {
  std::string out;
  for (const char c : visible_text(text)) {
    // Inside double quotes gnuplot interprets backslashes, and runs what stands between backticks.
    if (c == '"' || c == '\\' || c == '`')
      out += fmt::format("\\{:03o}", static_cast<unsigned>(c));
    else
      out += c;
  }
  return fmt::format("\"{}\"", out);
}

std::string color_words(Ink ink) {
  return fmt::format("rgb \"{}\"", color_of(ink));
}

std::string line_words(const Line& line) {
  const bool pattern = line.dash.find_first_not_of("0123456789") != std::string::npos;
  const std::string dash = line.dash.empty() ? "solid" : pattern ? fmt::format("\"{}\"", line.dash) : line.dash;
  std::string words = fmt::format("lc {} lw {} dt {}", color_words(line.ink), line.width, dash);
  if (line.dots > 0) words += fmt::format(" pt {} ps {}", line.point, line.dots);
  return words;
}

double PanelGrid::width() const {
  const auto n = static_cast<double>(columns);
  return margin.left + margin.right + n * panel.width + (n - 1) * gap.x;
}

double PanelGrid::height() const {
  const auto n = static_cast<double>(rows);
  return margin.top + margin.bottom + n * panel.height + (n - 1) * gap.y;
}

double PanelGrid::panel_left(std::size_t column) const {
  return margin.left + static_cast<double>(column) * (panel.width + gap.x);
}

double PanelGrid::panel_bottom(std::size_t row) const {
  return margin.bottom + static_cast<double>(rows - 1 - row) * (panel.height + gap.y);
}

Panel::Panel(const PanelGrid& grid, std::size_t row, std::size_t column)
    : grid_(grid),
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

void Panel::note(const std::string& text, const Place& place, const Letters& letters) {
  if (text.empty()) return;
  notes_ += fmt::format("set label {} at {} {}\n", text_words(text), place_words(place), letter_words(letters));
}

void Panel::mark(const Place& place, double size, const std::string& text, const Letters& letters, bool ring) {
  notes_ += fmt::format("set label {} at {} {} point pt {} ps {:.3f} lc {}\n", text_words(text), place_words(place),
                        letter_words(letters), ring ? 6 : 7, size, color_words(ink::mark));
}

void Panel::segment(const Place& from, const Place& to, const Line& line) {
  lines_ +=
      fmt::format("set arrow from {} to {} nohead back {}\n", place_words(from), place_words(to), line_words(line));
}

void Panel::plot(Rows rows, const std::string& with, const std::string& columns) {
  if (!rows.empty()) series.push_back({std::move(rows), with, columns});
}

void Panel::curve(std::span<const double> xs, std::span<const double> ys, const Line& line) {
  plot(rows_of({xs, ys}), (line.dots > 0 ? "linespoints " : "lines ") + line_words(line));
}

void Panel::colored_curve(std::span<const double> xs, std::span<const double> ys, double color, double width,
                          double dots) {
  Rows rows = rows_of({xs, ys});
  for (auto& row : rows) row.emplace_back(color);
  plot(std::move(rows), fmt::format("linespoints lc palette lw {} pt 7 ps {}", width, dots));
}

void Panel::band(std::span<const double> xs, std::span<const double> low, std::span<const double> high, Ink ink,
                 double opacity) {
  const std::string fill = opacity > 0 ? fmt::format(" fs transparent solid {} noborder", opacity) : "";
  plot(rows_of({xs, low, high}), fmt::format("filledcurves lc {}{}", color_words(ink), fill));
}

void Panel::area(std::span<const double> xs, std::span<const double> ys, double level, Ink ink, double strength) {
  const std::string fill = strength > 0 ? fmt::format(" fs solid {} noborder", strength) : "";
  plot(rows_of({xs, ys}), fmt::format("filledcurves y={} lc {}{}", level, color_words(ink), fill));
}

void Panel::texts(Rows rows, const Letters& letters) {
  plot(std::move(rows), "labels " + letter_words(letters));
}

void Panel::heat_map(const Cells& cells, const ValueRange& amounts) {
  // The middle of a pixel, in cells.
  const auto middle = [](std::size_t pixel, std::size_t block) {
    return (static_cast<double>(pixel) + 0.5) / static_cast<double>(block) - 0.5;
  };
  Rows rows;
  for (std::size_t row = 0; row < cells.rows * cells.up; ++row)
    for (std::size_t column = 0; column < cells.columns * cells.across; ++column)
      rows.push_back({cells.x(middle(column, cells.across)), cells.y(middle(row, cells.up)),
                      cells.amount(column / cells.across, row / cells.up)});
  plot(std::move(rows), "image");
  colors = amounts;
}

void Panel::color_bar(ColorBar bar) {
  if (bar.common) bar.away += grid_.width() - grid_.margin.right - right_;
  colors_ += fmt::format("set colorbox vertical user origin {} size {:.6f},{:.6f} border\n",
                         place_words(grid_.at(right_ + bar.away, bottom_)), bar.width / grid_.width(),
                         height() / grid_.height());
  colors_ += fmt::format("set cbtics {} {} offset {},0 scale {}\n", tic_words(bar.tics),
                         font_words(bar.tics.points, false), -bar.tics.away, bar.title.empty() ? 0.5 : 0.4);
  colors_ += fmt::format("set format cb \"{}\"\nset cblabel {} {} offset {},0\n",
                         bar.tics.numbers == Numbers::plain ? "%g" : "% h", text_words(bar.title),
                         font_words(6.5, false), bar.title_right);
}

std::string Panel::script(std::size_t& blocks) const {
  std::string words = fmt::format(
      "set lmargin at screen {:.6f}\nset rmargin at screen {:.6f}\nset bmargin at screen {:.6f}\nset tmargin at screen "
      "{:.6f}\nunset label\nunset arrow\nunset object\nunset logscale\nunset key\nunset colorbox\n",
      left_ / grid_.width(), right_ / grid_.width(), bottom_ / grid_.height(), top_ / grid_.height());
  words += frame == Frame::base_line
               ? fmt::format("set border 1 lw 0.6 lc {}\n", color_words(ink::base_line))
               : fmt::format("set border {} lw 0.8 lc {}\n", frame == Frame::none ? 0 : 31, color_words(ink::frame));
  const double length = frame == Frame::none ? 0 : tic_length;
  words += fmt::format("set tics out nomirror scale {},{}{}\n", length, length / 2,
                       frame == Frame::none ? " textcolor " + color_words(ink::frame) : "");
  words += axis_words('x', x, lowest_) + axis_words('y', y, leftmost_);
  if (!upper.empty()) words += "set link x2\nset x2tics out offset 0,-0.3 " + tic_words({.named = upper}) + '\n';
  const auto title = [&](const PanelAxis& axis, const Place& place, bool upward) {
    words += fmt::format("set label {} at {} {}\n", text_words(axis.title), place_words(place),
                         letter_words({.anchor = Anchor::center, .upward = upward}));
  };
  if (!x.title.empty() && (lowest_ || !x.common))
    title(x, grid_.at((left_ + right_) / 2, bottom_ - (x.away > 0 ? x.away : 0.37)), false);
  if (!y.title.empty() && (leftmost_ || !y.common))
    title(y, grid_.at(left_ - (y.away > 0 ? y.away : 0.5), (bottom_ + top_) / 2), true);
  words += lines_ + notes_ + fmt::format("set cbrange [{}:{}]\n", colors.low, colors.high) + colors_;
  std::string plotted;
  for (const Series& one : series) {
    std::string columns = one.columns;
    for (std::size_t c = 1; one.columns.empty() && c <= one.rows.front().size(); ++c)
      columns += fmt::format("{}{}", c > 1 ? ":" : "", c);
    const std::string block = fmt::format("$data{}", blocks++);
    words += data_block(block, one.rows);
    plotted +=
        fmt::format("{}{} using {} with {} notitle", plotted.empty() ? "" : ", \\\n  ", block, columns, one.with);
  }
  words += "plot " + (plotted.empty() ? "NaN notitle" : plotted) + '\n';
  if (!upper.empty()) words += "unset x2tics\nunset link x2\n";
  for (const Panel& other : others) words += other.script(blocks);
  return words;
}

}  // namespace headwave
