#pragma once

#include <string>

#include "../../job/run/job.h"

namespace headwave::cli {

/// Whether -q was given.
bool& quiet();

/// Shows on standard error where a command stands and about how much time is left; nothing under -q.
///
/// On a terminal one line overwrites itself, at most twice a second. Elsewhere, in logs, plain lines are written now
/// and then: the first after ten seconds, each further one after half as long again as there was so far, or
/// five minutes, and when a stage begins after a minute or more without one.
///
/// The first call begins the clock.
ProgressCallback progress();

/// Tells of something that is no job's stage: "reading", "writing results.h5", "figure offset_profile" 3 of
/// 18.
void progress_at(const std::string& what, Index number = 0, Index total = 1);

/// Clears the line: what is printed next starts clean.
void end_progress();

}  // namespace headwave::cli
