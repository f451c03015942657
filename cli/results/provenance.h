#pragma once

#include "../../core/fields/field.h"

namespace headwave::cli {

/// The commit that the program was built from, "-dirty" after it where files differed; "unknown" outside a checkout.
/// Its source is written by the build, see cmake/commit.cmake.
const char* build_commit();

/// Adds which program it is: version, commit, compiler, libraries and instruction_set. Runs of one give the same digits
/// from the same input.
void add_build(Attributes& provenance);

/// Adds to a result who made it, when, and with what: version, commit, compiler, libraries, processor,
/// instruction_set, command, started and wall_time_s. Every command that writes a result calls this.
/// @param seconds  that the command has taken so far
void add_program(Attributes& provenance, double seconds);

}  // namespace headwave::cli
