#pragma once

#include <string>
#include <vector>

#include "../../reports/drawing/figure.h"
#include "cli11.h"

namespace headwave::cli {

/// Adds --formats and --figure-width, with checks of their values.
/// @param formats, inches  must outlive the command
void add_style_options(CLI::App& command, std::vector<std::string>& formats, double& inches);

/// Whether the command was given one of these options.
bool styles_figures(const CLI::App& command);

}  // namespace headwave::cli
