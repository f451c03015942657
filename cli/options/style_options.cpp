#include "style_options.h"

#include <algorithm>
#include <array>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../../data/files/printable.h"
#include "option_row.h"
#include "values.h"

namespace headwave::cli {

namespace {

CLI::Validator width() {
  const std::string widths = "column: 3.4, page: 7, slide: 12, or 2 to 40";
  return {[=](std::string& text) {
            const auto inches = figure_width(text);
            if (!inches) return fmt::format("expected {}, got '{}'", widths, printable(text, 60));
            text = fmt::format("{}", *inches);
            return std::string();
          },
          widths};
}

std::string wrong_font(const std::string& text) {
  if (is_font_name(text)) return {};
  return fmt::format("expected letters, digits, spaces and hyphens, got '{}'", printable(text, 60));
}

}  // namespace

bool styles_figures(const CLI::App& command) {
  return std::ranges::any_of(std::array{"--formats", "--figure-width", "--font", "--font-size", "--palette"},
                             [&](const char* option) { return command.count(option) > 0; });
}

void add_style_options(CLI::App& command, FigureStyle& style) {
  const OptionRows row(command, "Figures");
  row("--figure-width", style.width, "WIDTH", "width in inches; otherwise as each figure needs")->transform(width());
  row("--font", style.font, "NAME", "font of figures; default sans-serif", CLI::Validator(wrong_font, ""));
  row("--font-size", style.points, nullptr,
      "points of the letters along axes; default 8, more on figures wider than 7 inches", real_number(4, 40));
  row("--palette", style.palette, "NAME", "colours of heat maps; grey: no colours anywhere", one_of(palette_names()))
      ->capture_default_str();
  command.parse_complete_callback([&style] {
    try {
      require_style(style);
    } catch (const FormatError& error) {
      throw CLI::ValidationError(error.what());
    }
  });
}

}  // namespace headwave::cli
