#pragma once

#include "../../core/fields/field.h"
#include "../../job/run/provenance.h"
#include "../terminal/terminal.h"

namespace headwave::cli {

/// Adds to a result what this command is. Every command that writes a result calls this.
/// @param seconds  that the command has taken so far
inline void add_program(Attributes& provenance, double seconds) {
  headwave::add_program(provenance, {command_line(), program_start(), seconds});
}

}  // namespace headwave::cli
