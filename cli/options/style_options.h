#pragma once

#include "../../reports/drawing/figure_style.h"
#include "cli11.h"

namespace headwave::cli {

/// Adds --figure-width, --font, --font-size and --palette, with checks of their values.
/// @param style  must live as long as the command
void add_style_options(CLI::App& command, FigureStyle& style);

/// Whether the command was given an option that only figures have: --formats, or one of the style's.
bool styles_figures(const CLI::App& command);

}  // namespace headwave::cli
