#pragma once

#include <ctime>
#include <string>

#include "../../core/fields/field.h"
#include "../../core/numbers/matrix.h"

namespace headwave {

/// The commit from which the program was built, followed by "-dirty" if files differed; "unknown" outside a
/// checkout. The build writes its source (cmake/commit.cmake).
const char* build_commit();

/// Adds what identifies the build: version, commit, compiler, libraries and instruction_set. Runs of one
/// build give the same digits for the same input.
void add_build(Attributes& provenance);

/// The command that made a result.
struct MadeBy {
  std::string command;  ///< as typed
  std::time_t started = 0;
  double seconds = 0;  ///< taken so far
};

/// Adds trained_rows, position_rows, trained_norm and untrained_norm of a position table whose last rows were
/// never trained (core/model/layer_positions.h). Adds nothing for any other table.
void add_trained_rows(Attributes& provenance, MatrixView32 table);

/// Adds who made a result, when and with what: version, commit, compiler, libraries, processor,
/// instruction_set, command, started and wall_time_s. Every writer of a result calls this.
void add_program(Attributes& provenance, const MadeBy& made);

}  // namespace headwave
