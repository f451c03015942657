#pragma once

#include <string>

#include "../../job/run/job.h"

namespace headwave::cli {

/// Whether -q was given.
bool& quiet();

/// Shows on standard error where a command stands and about how much time is left; nothing under -q. The
/// first call starts the clock.
///
/// On a terminal, one line overwrites itself at most twice a second. In logs, plain lines are written: the
/// first after ten seconds, each further one after half the time so far (at least ten seconds, at most five
/// minutes), and one when a stage begins after a minute without a line.
ProgressCallback progress();

/// Shows what is not a stage of a job: "reading", "writing results.h5", "figure offset_profile" 3 of 18.
void progress_at(const std::string& what, Index number = 0, Index total = 1);

/// Clears the line, so that what is printed next starts clean.
void end_progress();

}  // namespace headwave::cli
