#pragma once

#include <string>

#include "job.h"

namespace headwave {

/// "40 s", "12 min", "3.5 h".
std::string duration_text(double seconds);

/// Wall time that is left, from what was expected and what has passed; NaN where nothing is expected.
///
///     left = (passed / (before + d / n here)) ((1 - d / n) here + after) - since             (1)
///
/// with d of n steps done when that was told; from then on time passes, but what comes after the stage stays to be done.
/// @param passed  seconds from the first stage's beginning to what was last told
/// @param since   seconds since then
double seconds_left(const JobProgress& now, double passed, double since);

/// "attention: 12 of 100, about 40 s left"
std::string progress_text(const JobProgress& now, double passed, double since);

/// Whether a log is due another line.
/// @param passed   seconds since the beginning
/// @param written  when the last line was written, in the same seconds; 0: none yet
/// @param begins   whether a stage has begun since that line
bool line_due(double passed, double written, bool begins);

}  // namespace headwave
