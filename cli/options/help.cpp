#include "help.h"

#include <algorithm>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "description.h"

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

/// Options by their groups, in the order in which they were added; those of every command last.
std::string options_of(const CommandDescription& command) {
  std::vector<std::string> groups;
  for (const OptionDescription& option : command.options)
    if (std::find(groups.begin(), groups.end(), option.group) == groups.end()) groups.push_back(option.group);
  std::string text;
  for (const std::string& group : groups) {
    text += "\n" + group + ":\n";
    for (const OptionDescription& option : command.options)
      if (option.group == group) text += entry(option.name(), option.text());
  }
  text += "\nEverywhere:\n";
  for (const OptionDescription& option : command.everywhere) text += entry(option.name(), option.text());
  return text;
}

}  // namespace

void add_examples(CLI::App& command, const std::vector<Example>& examples) {
  std::string text = "Examples:\n";
  for (const Example& example : examples)
    text += fmt::format("  headwave {}\n      {}\n", example.line, wrapped(example.what, 6, 6));
  // The footer is a text that CLI11 keeps for us: help_text() puts a command's before the options.
  command.footer(text);
}

std::string help_text(const CLI::App* app, const std::string& /*name*/, CLI::AppFormatMode /*mode*/) {
  const CommandDescription command = description_of(*app);
  const bool is_program = app->get_parent() == nullptr;
  std::string text = wrapped(command.about, 0, 0) + "\n\n";
  if (!is_program && !command.more.empty()) text += command.more + "\n";
  text += "Usage: " + command.usage() + "\n";
  if (!command.commands.empty()) text += "\nCommands:\n";
  for (const CommandDescription& inner : command.commands) text += entry(inner.name, inner.brief);
  if (!command.arguments.empty()) text += "\nArguments:\n";
  for (const OptionDescription& argument : command.arguments) text += entry(argument.name(), argument.text());
  text += options_of(command);
  return is_program ? text + "\n" + command.more + "\n" : text;
}

}  // namespace headwave::cli
