#pragma once

#include <string>
#include <vector>

#include "cli11.h"

namespace headwave::cli {

/// An argument or option as --help, man pages and shells are told of it.
struct OptionDescription {
  std::vector<std::string> names;    ///< with their dashes, "-q", "--quiet"; none of an argument
  std::string takes;                 ///< "DIR", "N"; empty: nothing
  std::string about;                 ///< what it is
  std::string limits;                ///< "1 to 1000, default 20", "required"; may be empty
  std::vector<std::string> choices;  ///< the only words that it takes; none: it takes something else
  std::string group;                 ///< the heading under which it stands
  bool required = false;
  bool many = false;    ///< takes several words
  bool listed = false;  ///< takes several with commas between

  [[nodiscard]] std::string name() const;  ///< "-q, --quiet", "--out DIR", "PATH"
  [[nodiscard]] std::string text() const;  ///< "about (limits)"
  [[nodiscard]] bool takes_folder() const { return takes == "DIR"; }
  [[nodiscard]] bool takes_file() const;  ///< or a folder
};

/// A command, or the program itself with its commands.
struct CommandDescription {
  std::string name;   ///< "run"; the program: "headwave"
  std::string line;   ///< what is typed: "headwave run"
  std::string about;  ///< a sentence
  std::string brief;  ///< the same in a list
  std::string more;   ///< examples of a command; the end of the program's help
  std::vector<OptionDescription> arguments;
  std::vector<OptionDescription> options;     ///< without hidden ones, in the order in which they were added
  std::vector<OptionDescription> everywhere;  ///< that every command has
  std::vector<CommandDescription> commands;   ///< of the program

  [[nodiscard]] std::string usage() const;  ///< "headwave inspect PATH [OPTIONS]"
};

/// All that the parser knows of a program or a command: help, man pages and completion are made of this.
CommandDescription description_of(const CLI::App& command);

}  // namespace headwave::cli
