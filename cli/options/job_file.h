#pragma once

#include <filesystem>
#include <set>
#include <string>

#include "cli11.h"

namespace headwave::cli {

/// Adds --job. read_job_file() reads its file after the command line is parsed.
void add_job_file_option(CLI::App& command, std::filesystem::path& file);

/// Gives a command the options in a TOML file as if they had been typed; typed options take precedence.
///
/// The name of each TOML entry is an option's long name without the two dashes: `documents = 50`, `heads =
/// ["L2H3"]`, `no-figures = true`. The value has the option's type: a whole number, a number, a text, a list
/// of texts, true or false. An entry is skipped if its option and a typed option exclude each other (`text`
/// beside `--ids`). Relative paths start in the folder where the program runs.
///
/// @throws IoError if the file cannot be read; FormatError naming the line if the text is not TOML, the
///         command has no such option, or a value has another type or is out of range
void read_job_file(CLI::App& command, const std::filesystem::path& file);

/// Gives a command the options in a text, such as that of job_text(), as read_job_file() does for a file.
/// @param name  name of the job in messages
/// @throws FormatError as read_job_file()
void read_job_text(CLI::App& command, const std::string& text, const std::filesystem::path& name);

/// The form of a path in a job: absolute, and without "." and ".." unless these follow a symbolic link.
std::string remembered_path(const std::filesystem::path& path);

/// Writes the options of a command, with defaults and absolute paths, as a job file that gives the same
/// result.
/// @param without  long names of options to omit
std::string job_text(const CLI::App& command, const std::set<std::string>& without);

}  // namespace headwave::cli
