#pragma once

#include <ctime>
#include <string>

#include "headwave/job/job.h"

namespace headwave::cli {

/// Whether -q was given.
bool& quiet();

/// The command line as it was typed, and when, for provenance.
void remember_command_line(int argc, char** argv);
const std::string& command_line();
std::time_t program_start();

/// A remark on standard error; nothing under -q.
void say(const std::string& text);

/// "40 s", "12 min", "3.5 h".
std::string duration_text(double seconds);

/// A progress line on standard error that overwrites itself, with an estimate of what is left; only on a terminal, only
/// for stages that take over a second, and never under -q.
ProgressCallback progress_line();

/// Clears the progress line, so that the next thing written starts clean.
void end_progress();

}  // namespace headwave::cli
