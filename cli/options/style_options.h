#pragma once

#include <string>
#include <vector>

#include "../../reports/drawing/figure.h"
#include "cli11.h"

namespace headwave::cli {

/// Adds --formats and --figure-width, and checks their values.
/// @param formats, inches  must outlive the command
void add_style_options(CLI::App& command, std::vector<std::string>& formats, double& inches);

/// Whether --formats or --figure-width was given to the command.
bool styles_figures(const CLI::App& command);

}  // namespace headwave::cli
