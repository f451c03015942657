#pragma once

#include <ctime>
#include <string>

#include "../../core/fields/field.h"
#include "../../core/numbers/matrix.h"

namespace headwave {

/// The commit from which the program was built. It ends in "-dirty" if files differed from the commit, and is
/// "unknown" if the program was built outside a checkout. cmake/commit.cmake writes the source of this
/// function.
const char* build_commit();

/// Adds to the provenance what identifies the build: version, commit, compiler, libraries and
/// instruction_set. Runs of one build give the same digits for the same input.
void add_build(Attributes& provenance);

/// The command that made a result.
struct MadeBy {
  std::string command;  ///< as typed
  std::time_t started = 0;
  double seconds = 0;  ///< wall time that the command has taken so far
};

/// Adds trained_rows, position_rows, trained_norm and untrained_norm to the provenance if the last rows of
/// the position table were never trained (core/model/layer_positions.h). Otherwise adds nothing.
void add_trained_rows(Attributes& provenance, MatrixView32 table);

/// Adds to the provenance how and when a result was made: the entries of add_build(), processor, command,
/// started and wall_time_s. Every writer of a result calls this.
void add_program(Attributes& provenance, const MadeBy& made);

}  // namespace headwave
