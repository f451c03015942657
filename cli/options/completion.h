#pragma once

#include <string>

#include "description.h"

namespace headwave::cli {

// What a shell reads to complete the program's command lines: commands, options, the words that an option takes, and files
// and folders where it takes such. Made of the same description as the help.

/// For bash 4 or newer; needs no other package.
std::string bash_completion(const CommandDescription& program);

/// For zsh's own completion system: a file named _headwave in a folder of $fpath.
std::string zsh_completion(const CommandDescription& program);

/// For fish: headwave.fish in a folder of $fish_complete_path.
std::string fish_completion(const CommandDescription& program);

}  // namespace headwave::cli
