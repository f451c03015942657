#pragma once

#include <exception>
#include <string>

#include "../../core/errors/error.h"

namespace headwave::cli {

/// "--head-count 4", "--trusted": a remedy as it is typed.
std::string remedy_as_flag(const Remedy& remedy);

/// What an error says to somebody at the command line: its finding, and its remedies as options to type.
std::string error_message(const std::exception& error);

}  // namespace headwave::cli
