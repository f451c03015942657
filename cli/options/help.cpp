#include "help.h"

#include <algorithm>
#include <cctype>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace headwave::cli {

namespace {

constexpr std::size_t line_width = 96, text_column = 28;

/// Words put into lines; those after the first begin at a column.
std::string wrapped(const std::string& text, std::size_t column, std::size_t begun) {
  std::string result;
  std::size_t at = begun;
  for (std::size_t first = 0; first < text.size();) {
    const std::size_t end = std::min(text.find(' ', first), text.size());
    const std::string word = text.substr(first, end - first);
    first = end + 1;
    if (at > column && at + 1 + word.size() > line_width) {
      result += "\n" + std::string(column, ' ');
      at = column;
    }
    if (at > column) {
      result += ' ';
      ++at;
    }
    result += word;
    at += word.size();
  }
  return result;
}

std::string entry(const std::string& name, const std::string& text) {
  std::string line = "  " + name;
  if (line.size() + 2 > text_column)
    line += "\n" + std::string(text_column, ' ');
  else
    line.resize(text_column, ' ');
  return line + wrapped(text, text_column, text_column) + "\n";
}

/// The type's name and what the validators say, which CLI11 joins by colons: "INT:1 to 100".
std::pair<std::string, std::string> type_of(const CLI::Option& option) {
  const std::string joined = option.get_type_name();
  const auto colon = joined.find(':');
  const std::string type = joined.substr(0, colon);
  std::string takes = colon == std::string::npos ? "" : joined.substr(colon + 1);
  if (type == "INT" || type == "UINT") return {"N", takes};
  if (type == "FLOAT") return {"X", takes};
  return {type, takes};
}

std::string name_of(const CLI::Option& option) {
  std::string names;
  for (const std::string& one : option.get_snames()) names += (names.empty() ? "-" : ", -") + one;
  for (const std::string& one : option.get_lnames()) names += (names.empty() ? "--" : ", --") + one;
  if (option.get_expected_max() > 0) names += " " + type_of(option).first;
  return names;
}

/// What it is, then in brackets what it takes and what it is without being given.
std::string text_of(const CLI::Option& option) {
  std::string takes = option.get_expected_max() > 0 ? type_of(option).second : "";
  const auto add = [&](const std::string& more) { takes += (takes.empty() ? "" : ", ") + more; };
  if (option.get_required()) add("required");
  if (!option.get_default_str().empty()) add("default " + option.get_default_str());
  return takes.empty() ? option.get_description() : fmt::format("{} ({})", option.get_description(), takes);
}

bool is_shown(const CLI::Option& option) {
  return !option.get_group().empty();
}

std::string usage_of(const CLI::App& command, const std::string& name) {
  std::string line = "Usage: " + name;
  if (!command.get_subcommands([](const CLI::App*) { return true; }).empty()) return line + " COMMAND [OPTIONS]\n";
  for (const CLI::Option* option : command.get_options({})) {
    if (option->get_positional())
      line += option->get_required() ? " " + type_of(*option).first : " [" + type_of(*option).first + "]";
    else if (option->get_required())
      line += " " + name_of(*option);
  }
  return line + " [OPTIONS]\n";
}

std::string arguments_of(const CLI::App& command) {
  std::string text;
  for (const CLI::Option* option : command.get_options({}))
    if (option->get_positional()) text += entry(type_of(*option).first, text_of(*option));
  return text.empty() ? "" : "\nArguments:\n" + text;
}

/// Options by their groups, in the order in which they were added; those of every command last.
std::string options_of(const CLI::App& command) {
  std::vector<std::string> groups;
  std::string text, everywhere;
  for (const CLI::Option* option : command.get_options({}))
    if (!option->get_positional() && is_shown(*option) && option != command.get_help_ptr() &&
        std::find(groups.begin(), groups.end(), option->get_group()) == groups.end())
      groups.push_back(option->get_group());
  for (const std::string& group : groups) {
    text += "\n" + group + ":\n";
    for (const CLI::Option* option : command.get_options({}))
      if (!option->get_positional() && option->get_group() == group && option != command.get_help_ptr())
        text += entry(name_of(*option), text_of(*option));
  }
  if (command.get_parent() != nullptr)
    for (const CLI::Option* option : command.get_parent()->get_options({}))
      if (option->get_configurable() && is_shown(*option) && option != command.get_parent()->get_help_ptr())
        everywhere += entry(name_of(*option), text_of(*option));
  if (command.get_help_ptr() != nullptr) everywhere += entry(name_of(*command.get_help_ptr()), "print this");
  return text + "\nEverywhere:\n" + everywhere;
}

std::string commands_of(const CLI::App& program) {
  std::string text;
  for (const CLI::App* command : program.get_subcommands([](const CLI::App*) { return true; }))
    text += entry(command->get_name(), command->get_description());
  return text.empty() ? "" : "\nCommands:\n" + text;
}

}  // namespace

void add_examples(CLI::App& command, const std::vector<Example>& examples) {
  std::string text = "Examples:\n";
  for (const Example& example : examples)
    text += fmt::format("  headwave {}\n      {}\n", example.line, wrapped(example.what, 6, 6));
  // The footer is a text that CLI11 keeps for us: help_text() puts a command's before the options.
  command.footer(text);
}

std::string help_text(const CLI::App* command, std::string name, CLI::AppFormatMode /*mode*/) {
  const bool is_program = command->get_parent() == nullptr;
  if (name.empty())
    name = is_program ? command->get_name() : command->get_parent()->get_name() + " " + command->get_name();
  std::string about = command->get_description();
  if (!about.empty()) about[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(about[0])));
  std::string text = wrapped(about, 0, 0) + (about.ends_with('.') ? "\n\n" : ".\n\n");
  if (!is_program && !command->get_footer().empty()) text += command->get_footer() + "\n";
  text += usage_of(*command, name) + commands_of(*command) + arguments_of(*command) + options_of(*command);
  return is_program ? text + "\n" + command->get_footer() + "\n" : text;
}

}  // namespace headwave::cli
