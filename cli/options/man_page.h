#pragma once

#include <string>

#include "description.h"

namespace headwave::cli {

/// The manual page of a command, or of the program, in roff's man macros: what --help says.
/// @param program  the program's description
/// @param command  one of its commands, or the program itself
std::string man_page(const CommandDescription& program, const CommandDescription& command);

/// What the page's file is called without its section: "headwave-run".
std::string man_name(const CommandDescription& program, const CommandDescription& command);

}  // namespace headwave::cli
