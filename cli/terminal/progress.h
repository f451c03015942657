#pragma once

#include <string>

#include "../../job/run/job.h"

namespace headwave::cli {

/// Whether -q was given, as a flag that can be set.
bool& quiet();

/// Makes a callback that shows on standard error how far a command is, and about how much time is left. It
/// shows nothing under -q. The first report starts the clock.
///
/// On a terminal, a single line is rewritten at most twice a second, and also when a stage begins. In logs,
/// lines are added: the first after ten seconds. The next line follows when half of the time before the last
/// line has passed again, but at least ten seconds and at most five minutes. A new stage also gets a line if
/// the last line is at least a minute old.
ProgressCallback progress();

/// Shows progress outside a job's stages: "reading", "writing results.h5", "figure offset_profile" 3 of 18.
void progress_at(const std::string& what, Index number = 0, Index total = 1);

/// Clears the progress line, so that the next output starts on an empty line.
void end_progress();

}  // namespace headwave::cli
