#pragma once

#include <ctime>
#include <string>

#include "../../core/fields/field.h"
#include "../../core/numbers/matrix.h"

namespace headwave {

/// The commit that this was built from, "-dirty" after it where files differed; "unknown" outside a checkout. Its source is
/// written by the build, see cmake/commit.cmake.
const char* build_commit();

/// Adds which build it is: version, commit, compiler, libraries and instruction_set. Runs of one give the same digits from
/// the same input.
void add_build(Attributes& provenance);

/// What made a result, beside the build.
struct MadeBy {
  std::string command;      ///< as it was typed
  std::time_t started = 0;  ///< when
  double seconds = 0;       ///< that it has taken so far
};

/// Adds what is known of a position table whose last rows were never trained (core/model/trained_rows.h): trained_rows,
/// position_rows, trained_norm and untrained_norm; of any other table nothing.
void add_trained_rows(Attributes& provenance, MatrixView32 table);

/// Adds to a result who made it, when, and with what: version, commit, compiler, libraries, processor,
/// instruction_set, command, started and wall_time_s. Whatever writes a result calls this.
void add_program(Attributes& provenance, const MadeBy& made);

}  // namespace headwave
