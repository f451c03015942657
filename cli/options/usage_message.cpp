#include "usage_message.h"

#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "../../core/errors/nearest_name.h"
#include "../../data/files/printable.h"

namespace headwave::cli {

namespace {

std::vector<const CLI::App*> all_commands(const CLI::App& program) {
  return program.get_subcommands([](const CLI::App*) { return true; });
}

/// What --help shows, with the dashes.
std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options({})) {
    if (option->get_group().empty()) continue;
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

std::string unknown_command(const CLI::App& program, const std::string& name) {
  std::vector<std::string> names;
  for (const CLI::App* command : all_commands(program)) names.push_back(command->get_name());
  const std::string meant = did_you_mean(name, names);
  return fmt::format("there is no command '{}'{}", printable(name, 60),
                     meant.empty() ? "; `headwave --help` lists them" : meant);
}

std::string unknown_option(const CLI::App& program, const CLI::App& command, const std::string& typed) {
  const std::string name = typed.substr(0, typed.find('='));
  const std::string line = &program == &command ? "headwave" : "headwave " + command.get_name();
  std::vector<std::string> names = option_names(command);
  for (const std::string& own : option_names(program)) names.push_back(own);
  const std::string meant = did_you_mean(name, names);
  return fmt::format("{}: there is no {}{}", line, printable(name, 60),
                     meant.empty() ? fmt::format("; `{} --help` lists what there is", line) : meant);
}

}  // namespace

std::string usage_message(const CLI::App& program, const CLI::ParseError& error) {
  const std::vector<CLI::App*> chosen = program.get_subcommands();
  const std::vector<std::string> unknown = program.remaining(true);
  if (chosen.empty() && !unknown.empty() && !unknown.front().starts_with('-'))
    return unknown_command(program, unknown.front());
  const CLI::App& command = chosen.empty() ? program : *chosen.front();
  if (!unknown.empty()) {
    // The value of an unknown option is unknown too: the option is what is wrong.
    for (const std::string& word : unknown)
      if (word.size() > 1 && word.starts_with('-')) return unknown_option(program, command, word);
    return fmt::format("headwave {0}: '{1}' stands alone; `headwave {0} --help` says what may", command.get_name(),
                       printable(unknown.front(), 60));
  }
  if (chosen.empty()) return "which command? `headwave --help` lists them";
  return fmt::format("headwave {}: {}", command.get_name(), error.what());
}

const CLI::App& command_named(const CLI::App& program, const std::string& name) {
  for (const CLI::App* command : all_commands(program))
    if (command->get_name() == name) return *command;
  throw CLI::ValidationError(unknown_command(program, name));
}

}  // namespace headwave::cli
