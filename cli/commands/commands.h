#pragma once

#include <functional>

#include "../options/cli11.h"

namespace headwave::cli {

/// Exit codes of the program.
constexpr int done = 0, failed = 1, usage = 2, different = 3;

/// The action of a subcommand; returns an exit code. Each add_...() adds a subcommand with its options to the
/// program. If the command line names it, its action is put into `chosen`, and main() calls it after parsing.
using Command = std::function<int()>;

void add_demo(CLI::App& program, Command& chosen);
void add_run(CLI::App& program, Command& chosen);
void add_merge(CLI::App& program, Command& chosen);
void add_spectrum(CLI::App& program, Command& chosen);
void add_figures(CLI::App& program, Command& chosen);
void add_report(CLI::App& program, Command& chosen);
void add_export(CLI::App& program, Command& chosen);
void add_atlas(CLI::App& program, Command& chosen);
void add_compare(CLI::App& program, Command& chosen);
void add_validate(CLI::App& program, Command& chosen);
void add_inspect(CLI::App& program, Command& chosen);
void add_analyses(CLI::App& program, Command& chosen);

}  // namespace headwave::cli
