#include "figure_style.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "../../core/errors/error.h"
#include "../../core/numbers/decimal_number.h"
#include "visible_text.h"

namespace headwave {

namespace {

constexpr double least_width = 2.0, most_width = 7.0;

}  // namespace

std::optional<double> figure_width(std::string_view words) {
  if (words == "column") return 3.4;
  if (words == "page") return most_width;
  const std::optional<double> inches = decimal_number(words);
  return inches && *inches >= least_width && *inches <= most_width ? inches : std::nullopt;
}

double page_height(const FigureStyle& style) {
  return style.width == 0 ? std::numeric_limits<double>::infinity() : 9.0;
}

void require_style(const FigureStyle& style) {
  if (style.width != 0 && !(style.width >= least_width && style.width <= most_width))
    throw FormatError(
        fmt::format("figure width: expected {} to {} inches, got {}", least_width, most_width, style.width));
  const auto& names = palette_names();
  if (std::find(names.begin(), names.end(), style.palette) == names.end())
    throw FormatError(fmt::format("palette '{}': expected one of {}", shortened(visible_text(style.palette), 40),
                                  fmt::join(names, ", ")));
}

}  // namespace headwave
