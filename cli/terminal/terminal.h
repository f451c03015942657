#pragma once

#include <ctime>
#include <string>

#include "../../reports/drawing/sparkline.h"

namespace headwave::cli {

/// Whether -q was given.
bool& quiet();

/// The command line as it may be typed again, and when it was, for provenance.
void remember_command_line(int argc, char** argv);
const std::string& command_line();
std::time_t program_start();

/// Whether somebody looks at what is printed, not a program or a file.
bool is_seen();

/// What pictures of characters are made of: blocks where standard output is a terminal that shows UTF-8 and NO_COLOR is not
/// set, by LC_ALL, LC_CTYPE or LANG; else ASCII.
Signs output_signs();

/// Sees to it that what was printed is written: a result like any other, which nobody may take for whole where it is not.
/// @throws IoError if standard output does not take it
void require_printed();

/// A remark on standard error; nothing under -q.
void say(const std::string& text);

}  // namespace headwave::cli
