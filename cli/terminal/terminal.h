#pragma once

#include <exception>
#include <functional>
#include <string>

#include "../../core/fields/field.h"

namespace headwave::cli {

/// Remembers the command line, in a form that can be typed again, and the time at which the command started.
void remember_command_line(int argc, char** argv);

/// Adds the program and the command to a result's provenance. Every command that writes a result calls this.
void add_program(Attributes& provenance);

/// Checks that everything was printed. Call this at the end of the program. Output that the reader closed
/// early, as `head` does, is no error.
/// @throws IoError if standard output refused some of the output
void require_printed();

/// Prints a remark on standard error. Prints nothing under -q.
void say(const std::string& text);

/// Calls `print`, and goes on even if standard output fails, so that files can still be written afterwards.
/// require_printed() reports the failure at the end.
void try_to_print(const std::function<void()>& print);

/// Whether the reader of standard output has closed it, as `head` does.
bool is_unread();

/// Quotes a word for POSIX shells, if necessary.
std::string shell_word(const std::string& word);

/// Describes an error for the command line: what is wrong, and its remedies as options to type.
std::string error_message(const std::exception& error);

}  // namespace headwave::cli
