#pragma once

#include <string>

#include "cli11.h"

namespace headwave::cli {

/// What is wrong with a command line, in one line: of an unknown command or option which was meant, or which commands
/// have it.
/// @param error  what `program` threw while it parsed, or a command afterwards
std::string usage_message(const CLI::App& program, const CLI::ParseError& error);

/// Throws the same of a command by a name that there is not.
/// @returns the command
const CLI::App& command_named(const CLI::App& program, const std::string& name);

}  // namespace headwave::cli
