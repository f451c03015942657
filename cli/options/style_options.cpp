#include "style_options.h"

#include <algorithm>
#include <array>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../../data/files/printable.h"
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

CLI::Validator font_name() {
  return {[](std::string& text) {
            return is_font_name(text)
                       ? std::string()
                       : fmt::format("expected letters, digits, spaces and hyphens, got '{}'", printable(text, 60));
          },
          ""};
}

}  // namespace

bool styles_figures(const CLI::App& command) {
  return std::ranges::any_of(std::array{"--formats", "--figure-width", "--font", "--font-size", "--palette"},
                             [&](const char* option) { return command.count(option) > 0; });
}

void add_style_options(CLI::App& command, FigureStyle& style) {
  const char* group = "Figures";
  command.add_option("--figure-width", style.width, "width in inches; otherwise as each figure needs")
      ->transform(width())
      ->type_name("WIDTH")
      ->group(group);
  command.add_option("--font", style.font, "font of figures; default sans-serif")
      ->check(font_name())
      ->type_name("NAME")
      ->group(group);
  command
      .add_option("--font-size", style.points,
                  "points of the letters along axes; default 8, more on figures wider than 7 inches")
      ->check(real_number(4, 40))
      ->group(group);
  command.add_option("--palette", style.palette, "colours of heat maps; grey: no colours anywhere")
      ->check(one_of(palette_names()))
      ->capture_default_str()
      ->type_name("NAME")
      ->group(group);
  command.parse_complete_callback([&style] {
    try {
      require_style(style);
    } catch (const FormatError& error) {
      throw CLI::ValidationError(error.what());
    }
  });
}

}  // namespace headwave::cli
