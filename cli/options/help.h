#pragma once

#include <string>
#include <vector>

#include "cli11.h"

namespace headwave::cli {

/// An example: the command line after "headwave ", and what it does.
struct Example {
  std::string line, what;
};

/// Adds examples to a command, which --help shows after the options.
void add_examples(CLI::App& command, const std::vector<Example>& examples);

/// Lays out --help of a program and its commands as CLI11 does, but with wrapped lines and each option as
/// "--documents N  number of documents (1 to 1000, default 20)". help2man makes the man pages from it.
void lay_out_help(CLI::App& program);

/// The error of a command line, in one line. For an unknown name it adds the nearest command or option.
/// @param error  what `program` threw while it parsed, or a command afterwards
std::string usage_message(const CLI::App& program, const CLI::ParseError& error);

}  // namespace headwave::cli
