#pragma once

#include <ctime>
#include <exception>
#include <functional>
#include <string>

#include "../../core/errors/error.h"
#include "../../core/fields/field.h"
#include "../../reports/drawing/sparkline.h"

namespace headwave::cli {

/// Whether -q was given.
bool& quiet();

/// The command line as it may be typed again, and when it was, for provenance.
void remember_command_line(int argc, char** argv);
const std::string& command_line();
std::time_t program_start();
/// Seconds since then.
double seconds_so_far();

/// Adds to a result which program and command made it. Every command that writes a result calls this.
/// @param seconds  that making it has taken
void add_program(Attributes& provenance, double seconds = seconds_so_far());

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

/// Prints something before files are written, which are finished whatever happens to standard output. Whether it took
/// all, require_printed() tells at the end (terminal.h).
void try_to_print(const std::function<void()>& print);

/// Whether whoever read standard output has closed it, as `head` does once it has read enough.
bool is_unread();

/// What is said on standard error where Ctrl-C, or a machine that wants its user gone, ends the program while the object
/// lives. One at a time.
class LastWords {
 public:
  explicit LastWords(std::string words);
  LastWords(const LastWords&) = delete;
  LastWords& operator=(const LastWords&) = delete;
  ~LastWords();
};

/// A text within single quotes, which every shell ends in its own way.
/// @param escaped     characters that get a backslash
/// @param apostrophe  what stands for '
std::string single_quoted(const std::string& text, const std::string& escaped, const std::string& apostrophe);

/// A word as the POSIX shells take it for one: quoted where it has to be.
std::string shell_word(const std::string& word);

/// "--head-count 4", "--trusted": a remedy as it is typed.
std::string remedy_as_flag(const Remedy& remedy);

/// What an error says to somebody at the command line: its finding, and its remedies as options to type.
std::string error_message(const std::exception& error);

}  // namespace headwave::cli
