#pragma once

#include <string>
#include <vector>

#include "cli11.h"

namespace headwave::cli {

/// An example in --help: the command line after "headwave ", and what this command line does.
struct Example {
  std::string line, what;
};

/// Adds examples to a command. --help shows them after the options.
void add_examples(CLI::App& command, const std::vector<Example>& examples);

/// Sets the layout of --help for a program and its commands: as in CLI11, but with wrapped lines, and with
/// each option as "--documents N  number of documents (1 to 1000, default 20)". help2man makes the man pages
/// from this text.
void lay_out_help(CLI::App& program);

/// Describes an error of a command line in one line. For an unknown command or option, adds the nearest name.
/// @param error  the error that `program` threw while parsing, or that a command threw afterwards
std::string usage_message(const CLI::App& program, const CLI::ParseError& error);

}  // namespace headwave::cli
