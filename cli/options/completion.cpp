#include "completion.h"

#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "../terminal/shell_words.h"

namespace headwave::cli {

namespace {

std::vector<std::string> command_names(const CommandDescription& program) {
  std::vector<std::string> names;
  for (const CommandDescription& command : program.commands) names.push_back(command.name);
  return names;
}

/// The words that stand for something: those that an option lists, and commands where it takes one.
std::vector<std::string> completion_words(const OptionDescription& option, const CommandDescription& program) {
  return option.takes == "COMMAND" ? command_names(program) : option.choices;
}

std::vector<OptionDescription> all_options(const CommandDescription& command) {
  std::vector<OptionDescription> options = command.options;
  options.insert(options.end(), command.everywhere.begin(), command.everywhere.end());
  return options;
}

std::string fish_text(const std::string& text) {
  return single_quoted(text, "\\", "\\'");
}

/// In _arguments' specifications brackets and colons mean something.
std::string zsh_text(const std::string& text) {
  return single_quoted(text, "\\[]:", "'\\''");
}

// --- bash

std::string bash_values(const OptionDescription& option, const CommandDescription& program) {
  const std::vector<std::string> words = completion_words(option, program);
  if (!words.empty()) return fmt::format("words='{}'", fmt::join(words, " "));
  if (option.takes_folder()) return "files=directory";
  return option.takes_file() ? "files=file" : "return";
}

std::string bash_cases(const CommandDescription& command, const CommandDescription& program) {
  std::string text;
  for (const OptionDescription& option : command.options) {
    if (option.takes.empty()) continue;
    std::string patterns;
    for (const std::string& name : option.names)
      patterns += fmt::format("{}'{} {}'", patterns.empty() ? "" : " | ", command.name, name);
    text += fmt::format("    {}) {} ;;\n", patterns, bash_values(option, program));
  }
  return text;
}

std::string bash_command(const CommandDescription& command, const CommandDescription& program) {
  std::vector<std::string> names;
  for (const OptionDescription& option : all_options(command))
    names.insert(names.end(), option.names.begin(), option.names.end());
  std::string text = fmt::format("        {}) options='{}'", command.name, fmt::join(names, " "));
  if (!command.arguments.empty())
    if (const std::string values = bash_values(command.arguments.front(), program); values != "return")
      text += "; " + values;
  return text + " ;;\n";
}

// --- zsh

std::string zsh_values(const OptionDescription& option, const CommandDescription& program) {
  const std::vector<std::string> words = completion_words(option, program);
  std::string text = ":" + option.takes + ":";
  if (!words.empty())
    return text + (option.listed ? fmt::format("_sequence compadd - {}", fmt::join(words, " "))
                                 : fmt::format("({})", fmt::join(words, " ")));
  return text + (option.takes_folder() ? "_files -/" : option.takes_file() ? "_files" : "");
}

/// One argument of _arguments for each name of an option, and one for each argument.
std::string zsh_options(const CommandDescription& command, const CommandDescription& program) {
  std::string text;
  for (const OptionDescription& option : all_options(command)) {
    const std::string values = option.takes.empty() ? "" : zsh_values(option, program);
    const std::string alone = option.many ? "*" : fmt::format("({})", fmt::join(option.names, " "));
    for (const std::string& name : option.names)
      text +=
          fmt::format(" \\\n        '{}'{}{}'[{}]{}'", alone, name, option.takes.empty() || name[1] != '-' ? "" : "=",
                      zsh_text(option.about).substr(1, zsh_text(option.about).size() - 2), values);
  }
  for (std::size_t i = 0; i < command.arguments.size(); ++i)
    text += fmt::format(" \\\n        '{}{}'", command.arguments[i].many ? "*" : std::to_string(i + 1),
                        zsh_values(command.arguments[i], program));
  return text;
}

// --- fish

std::string fish_values(const OptionDescription& option, const CommandDescription& program) {
  const std::vector<std::string> words = completion_words(option, program);
  if (!words.empty()) return fmt::format(" -x -a '{}'", fmt::join(words, " "));
  if (option.takes_folder()) return " -x -a '(__fish_complete_directories)'";
  return option.takes_file() ? " -r -F" : " -x";
}

std::string fish_option(const OptionDescription& option, const CommandDescription& program, const std::string& when) {
  std::string text = "complete -c headwave" + when;
  for (const std::string& name : option.names)
    text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  if (!option.takes.empty()) text += fish_values(option, program);
  return text + " -d " + fish_text(option.about) + "\n";
}

}  // namespace

std::string bash_completion(const CommandDescription& program) {
  std::string cases, commands;
  for (const CommandDescription& command : program.commands) {
    cases += bash_cases(command, program);
    commands += bash_command(command, program);
  }
  std::vector<std::string> own;
  for (const OptionDescription& option : all_options(program))
    own.insert(own.end(), option.names.begin(), option.names.end());
  return fmt::format(R"(# Completion of headwave for bash, made by `headwave completion bash`.
_headwave() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} command= words= files= options= listed= i
  # bash takes --option=value apart.
  if [[ $word == = ]]; then
    word=
  elif [[ $before == = ]]; then
    before=${{COMP_WORDS[COMP_CWORD-2]}}
  fi
  for ((i = 1; i < COMP_CWORD; ++i)); do
    case ${{COMP_WORDS[i]}} in
      {0}) command=${{COMP_WORDS[i]}}; break ;;
    esac
  done
  case "$command $before" in
{1}    *)
      case $command in
        '') options='{2}' words='{3}' ;;
{4}      esac
      if [[ $word == -* ]]; then words=$options files=; fi ;;
  esac
  COMPREPLY=()
  if [[ -n $files ]]; then
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -A "$files" -- "$word")
  else
    # Of a list the last word is completed.
    if [[ $word == *,* ]]; then listed=${{word%,*}},; fi
    mapfile -t COMPREPLY < <(compgen -P "$listed" -W "$words" -- "${{word##*,}}")
  fi
}}
complete -F _headwave headwave
)",
                     fmt::join(command_names(program), " | "), cases, fmt::join(own, " "),
                     fmt::join(command_names(program), " "), commands);
}

std::string zsh_completion(const CommandDescription& program) {
  std::string commands, cases;
  for (const CommandDescription& command : program.commands) {
    commands += fmt::format("    {}\n", single_quoted(command.name + ":" + command.brief, "", "'\\''"));
    cases += fmt::format("      {}) _arguments{} ;;\n", command.name, zsh_options(command, program));
  }
  return fmt::format(R"(#compdef headwave
# Completion of headwave for zsh, made by `headwave completion zsh`.
_headwave() {{
  local curcontext=$curcontext state line
  local -a commands
  commands=(
{}  )
  _arguments -C{} \
        '1: :->command' '*:: :->rest'
  case $state in
    command) _describe command commands ;;
    rest)
      case $words[1] in
{}      esac ;;
  esac
}}
_headwave "$@"
)",
                     commands, zsh_options(program, program), cases);
}

std::string fish_completion(const CommandDescription& program) {
  std::string text =
      "# Completion of headwave for fish, made by `headwave completion fish`.\ncomplete -c headwave -f\n";
  for (const OptionDescription& option : all_options(program)) text += fish_option(option, program, "");
  for (const CommandDescription& command : program.commands) {
    text += fmt::format("complete -c headwave -n __fish_use_subcommand -a {} -d {}\n", command.name,
                        fish_text(command.brief));
    const std::string when = fmt::format(" -n '__fish_seen_subcommand_from {}'", command.name);
    for (const OptionDescription& argument : command.arguments)
      if (const std::string values = fish_values(argument, program); values != " -x")
        text += fmt::format("complete -c headwave{}{}\n", when, values);
    for (const OptionDescription& option : command.options) text += fish_option(option, program, when);
  }
  return text;
}

}  // namespace headwave::cli
