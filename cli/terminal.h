#pragma once

#include <ctime>
#include <string>

namespace headwave::cli {

/// Whether -q was given.
bool& quiet();

/// The command line as it was typed, and when, for provenance.
void remember_command_line(int argc, char** argv);
const std::string& command_line();
std::time_t program_start();

/// A remark on standard error; nothing under -q.
void say(const std::string& text);

}  // namespace headwave::cli
