#pragma once

#include <filesystem>
#include <set>
#include <string>

#include "cli11.h"

namespace headwave::cli {

/// Adds --job, which read_job_file() reads after the command line is parsed.
void add_job_file_option(CLI::App& command, std::filesystem::path& file);

/// Gives a command the options in a TOML file as if they had been typed; typed options take precedence.
///
/// A key is an option's long name without dashes: `documents = 50`, `heads = ["L2H3"]`, `no-figures = true`.
/// Its type is that of the option: a whole number, a number, a text, a list of texts, true or false. A key
/// whose option excludes a typed one (`text` beside `--ids`) is skipped. Relative paths start
/// where the program runs.
///
/// @throws IoError if the file cannot be read; FormatError naming the line if it is not TOML, a key is
///         unknown to the command, or a value has another type or is out of range
void read_job_file(CLI::App& command, const std::filesystem::path& file);

/// The same for the text of a job, as from job_text().
/// @param name  of the job in messages
/// @throws FormatError as read_job_file()
void read_job_text(CLI::App& command, const std::string& text, const std::filesystem::path& name);

/// A path as a job states it: absolute, and without "." and ".." unless these follow a symbolic link.
std::string remembered_path(const std::filesystem::path& path);

/// The options of a command as a job file that gives the same result again: with defaults and absolute paths.
/// @param without  long names of options to omit
std::string job_text(const CLI::App& command, const std::set<std::string>& without);

}  // namespace headwave::cli
