#pragma once

#include <ctime>
#include <exception>
#include <functional>
#include <string>

#include "../../core/errors/error.h"
#include "../../core/fields/field.h"

namespace headwave::cli {

/// The command line as it can be typed again, and the time of its start, for provenance.
void remember_command_line(int argc, char** argv);
const std::string& command_line();
std::time_t program_start();
/// Seconds since the start.
double seconds_so_far();

/// Adds the program and the command to a result's provenance. Every command that writes a result calls this.
/// @param seconds  that the result has taken
void add_program(Attributes& provenance, double seconds = seconds_so_far());

/// Checks at the end of the program that everything printed was written.
/// @throws IoError if standard output refused some of it
void require_printed();

/// A remark on standard error; nothing under -q.
void say(const std::string& text);

/// Prints before files are written, which are finished even if standard output fails; require_printed()
/// reports that at the end.
void try_to_print(const std::function<void()>& print);

/// Whether the reader of standard output has closed it, as `head` does.
bool is_unread();

/// A word as POSIX shells read it: quoted if necessary.
std::string shell_word(const std::string& word);

/// "--head-count 4", "--resume": a remedy as it is typed.
std::string remedy_as_flag(const Remedy& remedy);

/// What an error says to somebody at the command line: its finding, and its remedies as options to type.
std::string error_message(const std::exception& error);

}  // namespace headwave::cli
