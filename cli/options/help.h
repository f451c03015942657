#pragma once

#include <string>
#include <vector>

#include "cli11.h"

namespace headwave::cli {

/// A command line to learn from: what stands after "headwave ", and what it does.
struct Example {
  std::string line, what;
};

/// Gives a command examples, which --help shows before the options.
void add_examples(CLI::App& command, const std::vector<Example>& examples);

/// What --help prints: what the command does, examples, then arguments and options with what they take, "N  how many
/// documents (1 to 1000, default 20)". For CLI::App::formatter_fn().
std::string help_text(const CLI::App* command, const std::string& name, CLI::AppFormatMode mode);

}  // namespace headwave::cli
