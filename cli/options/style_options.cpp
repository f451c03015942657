#include "style_options.h"

#include <algorithm>
#include <array>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "../../data/files/printable.h"
#include "option_row.h"
#include "values.h"

namespace headwave::cli {

namespace {

CLI::Validator width() {
  const std::string widths = "column: 3.4, page: 7, or 2 to 7";
  return {[=](std::string& text) {
            const auto inches = figure_width(text);
            if (!inches) return fmt::format("expected {}, got '{}'", widths, printable(text, 60));
            text = fmt::format("{}", *inches);
            return std::string();
          },
          ""};
}

}  // namespace

bool styles_figures(const CLI::App& command) {
  return std::ranges::any_of(std::array{"--formats", "--figure-width"}, [&](const char* name) {
    const CLI::Option* option = command.get_option_no_throw(name);
    return option != nullptr && option->count() > 0;
  });
}

void add_style_options(CLI::App& command, std::vector<std::string>& formats, double& inches) {
  const OptionRows row(command, "Figures");
  row("--formats", formats, "LIST", "formats of figures, separated by commas; default svg",
      one_of({"pdf", "svg", "png"}))
      ->delimiter(',');
  row("--figure-width", inches, "WIDTH", "width in inches: column (3.4), page (7), or a number from 2 to 7")
      ->transform(width());
}

}  // namespace headwave::cli
