#include "strokes.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "visible_text.h"

namespace headwave {

namespace {

std::string coordinate_words(const Coordinate& coordinate) {
  switch (coordinate.unit) {
    case Coordinate::Unit::value:
      return fmt::format("first {}", coordinate.number);
    case Coordinate::Unit::panel:
      return fmt::format("graph {:.6f}", coordinate.number);
    default:
      return fmt::format("screen {:.6f}", coordinate.number);
  }
}

}  // namespace

Line categorical_line(Index i, double width, double dots) {
  constexpr std::array dashes{"", "_", "-", "_.", "."};
  constexpr std::array points{7, 5, 13, 6, 4, 12, 2, 1};
  const auto n = static_cast<std::size_t>(i);
  return {categorical(i), width, dashes[(n + n / points.size()) % dashes.size()], dots, points[n % points.size()]};
}

ValueRange range_with_zero(const std::vector<double>& values) {
  ValueRange range{0.0, 0.0};
  for (const double value : values)
    if (std::isfinite(value)) {
      range.low = std::min(range.low, value);
      range.high = std::max(range.high, value);
    }
  if (!(range.high > range.low)) return {};
  const double room = 0.07 * (range.high - range.low);
  return {range.low < 0 ? range.low - room : 0.0, range.high + room};
}

ValueRange range_around(const std::vector<double>& values, double room) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const double value : values)
    if (std::isfinite(value)) {
      low = std::min(low, value);
      high = std::max(high, value);
    }
  if (!(low <= high)) return {};
  const double around = high > low ? room * (high - low) : 1.0;
  return {low - around, high + around};
}

double tic_step(double range) {
  const double rough = range / 4;
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  const double digit = rough / power;
  return power * (digit < 1.5 ? 1 : digit < 3.5 ? 2 : digit < 7.5 ? 5 : 10);
}

std::vector<Tic> every_nth(const std::vector<Index>& numbers, std::size_t n) {
  std::vector<Tic> tics;
  for (std::size_t i = 0; i < numbers.size(); i += n)
    tics.push_back({static_cast<double>(i), fmt::format("{}", numbers[i])});
  return tics;
}

std::vector<Tic> spaced(const std::vector<Index>& numbers, double inches, double each) {
  const double n = std::ceil(each / (inches / static_cast<double>(numbers.size())));
  return every_nth(numbers, static_cast<std::size_t>(std::max(1.0, n)));
}

std::vector<Tic> round_tics(const ValueRange& range) {
  std::vector<Tic> tics;
  const int first = static_cast<int>(std::floor(std::log10(range.low)));
  const int last = static_cast<int>(std::floor(std::log10(range.high)));
  for (int exponent = first; exponent <= last; ++exponent)
    for (const int digit : {1, 2, 5})
      if (const double number = digit * std::pow(10.0, exponent);
          number >= range.low * 0.999 && number <= range.high * 1.001)
        tics.push_back({number, fmt::format("{:g}", number)});
  if (tics.size() > 1 || range.high - range.low <= 1e-9 * range.high) return tics;
  tics.clear();
  const double step = tic_step(range.high - range.low);
  const auto first_step = static_cast<Index>(std::ceil(range.low / step));
  const auto last_step = static_cast<Index>(std::floor(range.high / step));
  for (Index i = first_step; i <= last_step; ++i) {
    const double number = static_cast<double>(i) * step;
    tics.push_back({number, fmt::format("{:.6g}", number)});
  }
  return tics;
}

std::string text_words(const std::string& text) {
  std::string out;
  for (const char c : visible_text(text)) {
    // Inside double quotes gnuplot takes backslashes for escapes, and runs what stands between backticks.
    if (c == '"' || c == '\\' || c == '`')
      out += fmt::format("\\{:03o}", static_cast<unsigned>(c));
    else
      out += c;
  }
  return fmt::format("\"{}\"", out);
}

std::string font_words(double points, bool bold, const FigureStyle& style) {
  const char* weight = bold ? ":Bold" : "";
  return points > 0 ? fmt::format("font \"{}{},{:.2f}\"", style.font, weight, legible(points, style))
                    : fmt::format("font \"{}{}\"", style.font, weight);
}

std::string color_words(const Ink& ink, const FigureStyle& style) {
  return fmt::format("rgb \"{}\"", color_of(ink, style));
}

std::string line_words(const Line& line, const FigureStyle& style) {
  const bool pattern = line.dash.find_first_not_of("0123456789") != std::string::npos;
  const std::string dash = line.dash.empty() ? "solid" : pattern ? fmt::format("\"{}\"", line.dash) : line.dash;
  std::string words = fmt::format("lc {} lw {} dt {}", color_words(line.ink, style), line.width, dash);
  if (line.dots > 0) words += fmt::format(" pt {} ps {}", line.point, line.dots);
  return words;
}

std::string dot_words(const Dot& dot, const FigureStyle& style) {
  return fmt::format("point pt {} ps {:.3f} lc {}", static_cast<int>(dot.shape), dot.size, color_words(dot.ink, style));
}

std::string letter_words(const Letters& letters, const FigureStyle& style) {
  constexpr std::array anchors{"left", "center", "right"};
  std::string words = anchors[static_cast<std::size_t>(letters.anchor)];
  if (letters.upward) words += " rotate by 90";
  if (letters.up_share != 0)
    words += fmt::format(" offset {},graph {:.4f}", letters.right, letters.up_share);
  else if (letters.right != 0 || letters.up != 0)
    words += fmt::format(" offset {},{}", letters.right, letters.up);
  if (letters.points > 0 || letters.bold) words += fmt::format(" {}", font_words(letters.points, letters.bold, style));
  if (letters.ink.color != ink::text.color || letters.ink.grey != ink::text.grey)
    words += fmt::format(" tc {}", color_words(letters.ink, style));
  if (letters.front) words += " front";
  return words;
}

std::string place_words(const Place& place) {
  return fmt::format("{}, {}", coordinate_words(place.x), coordinate_words(place.y));
}

std::string tic_words(const Tics& tics) {
  std::string list;
  for (const Tic& tic : tics.named)
    list += fmt::format("{}{} {}", list.empty() ? "" : ", ", text_words(tic.name), tic.place);
  if (!list.empty()) return fmt::format("({})", list);
  if (!(tics.step > 0)) return "autofreq";
  return std::isnan(tics.first) ? fmt::format("{}", tics.step) : fmt::format("{},{}", tics.first, tics.step);
}

}  // namespace headwave
