#pragma once

#include <exception>
#include <functional>
#include <string>

#include "../../core/fields/field.h"

namespace headwave::cli {

/// Remembers the command line in a form that can be typed again, and when it started.
void remember_command_line(int argc, char** argv);

/// Adds the program and the command to a result's provenance. Every command that writes a result calls this.
void add_program(Attributes& provenance);

/// Checks at the end of the program that everything was printed.
/// @throws IoError if standard output refused some of it
void require_printed();

/// Prints a remark on standard error; nothing under -q.
void say(const std::string& text);

/// Prints before files are written. The files are finished even if standard output fails, which
/// require_printed() reports at the end.
void try_to_print(const std::function<void()>& print);

/// Whether the reader of standard output has closed it, as `head` does.
bool is_unread();

/// A word as POSIX shells read it: quoted if necessary.
std::string shell_word(const std::string& word);

/// An error in the words of the command line: its finding, and its remedies as options to type.
std::string error_message(const std::exception& error);

}  // namespace headwave::cli
