#include "figure_style.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "../../core/errors/error.h"
#include "../../core/numbers/decimal_number.h"
#include "visible_text.h"

namespace headwave {

namespace {

constexpr double usual_points = 8.0;  // of letters along axes
constexpr double least_points = 6.0;  // of any letter on paper
constexpr double page_width = 7.0;    // inches; a wider figure grows as a whole
constexpr double page_height = 9.0;   // inches of a sheet that a figure may take
constexpr double least_width = 2.0, most_width = 40.0;
constexpr double smallest_letters = 4.0, largest_letters = 40.0;
constexpr std::size_t longest_font = 64;

}  // namespace

std::optional<double> figure_width(std::string_view words) {
  if (words == "column") return 3.4;
  if (words == "page") return page_width;
  if (words == "slide") return 12.0;
  const std::optional<double> inches = decimal_number(words);
  return inches && *inches >= least_width && *inches <= most_width ? inches : std::nullopt;
}

bool is_font_name(std::string_view name) {
  const auto plain = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == ' ' || c == '-'; };
  return !name.empty() && name.size() <= longest_font && std::isalpha(static_cast<unsigned char>(name.front())) != 0 &&
         name.back() != ' ' && std::all_of(name.begin(), name.end(), plain);
}

double enlargement(const FigureStyle& style) {
  if (style.points > 0) return style.points / usual_points;
  return std::max(1.0, style.width / page_width);
}

double layout_width(const FigureStyle& style) {
  return style.width / enlargement(style);
}

double layout_height(const FigureStyle& style) {
  if (style.width == 0) return std::numeric_limits<double>::infinity();
  const double inches = style.width > page_width ? style.width * 9 / 16 : page_height;
  return inches / enlargement(style);
}

double legible(double points, const FigureStyle& style) {
  return std::max(points, std::clamp(least_points / enlargement(style), least_points, usual_points));
}

void require_style(const FigureStyle& style) {
  if (style.width != 0 && !(style.width >= least_width && style.width <= most_width))
    throw FormatError(
        fmt::format("figure width: expected {} to {} inches, got {}", least_width, most_width, style.width));
  if (style.points != 0 && !(style.points >= smallest_letters && style.points <= largest_letters))
    throw FormatError(
        fmt::format("font size: expected {} to {} points, got {}", smallest_letters, largest_letters, style.points));
  if (style.width != 0 && layout_width(style) < least_width)
    throw FormatError(
        fmt::format("font size: letters of {} points are too large for a figure {} inches wide; at most {:.3g}",
                    style.points, style.width, usual_points * style.width / least_width));
  if (!is_font_name(style.font))
    throw FormatError(fmt::format("font '{}': expected a name of letters, digits, spaces and hyphens",
                                  shortened(visible_text(style.font), 40)));
  const auto& names = palette_names();
  if (std::find(names.begin(), names.end(), style.palette) == names.end())
    throw FormatError(fmt::format("palette '{}': expected one of {}", shortened(visible_text(style.palette), 40),
                                  fmt::join(names, ", ")));
}

}  // namespace headwave
