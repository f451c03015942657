#include "description.h"

#include <algorithm>
#include <cctype>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "values.h"

namespace headwave::cli {

namespace {

OptionDescription described(const CLI::Option& option) {
  OptionDescription described;
  if (!option.get_positional()) {
    for (const std::string& name : option.get_snames()) described.names.push_back("-" + name);
    for (const std::string& name : option.get_lnames()) described.names.push_back("--" + name);
  }
  described.about = option.get_description();
  described.group = option.get_group();
  described.required = option.get_required();
  described.many = option.get_expected_max() > 1;
  described.listed = option.get_delimiter() != '\0';
  if (option.get_expected_max() > 0) {
    // The type's name and what the validators say, which CLI11 joins by colons: "INT:1 to 100".
    const std::string joined = option.get_type_name();
    const auto colon = std::min(joined.find(':'), joined.size());
    const std::string type = joined.substr(0, colon);
    described.takes = type == "INT" || type == "UINT" ? "N" : type == "FLOAT" ? "X" : type;
    if (colon < joined.size()) described.limits = joined.substr(colon + 1);
    described.choices = words_in(described.limits);
  }
  const auto add = [&](const std::string& more) { described.limits += (described.limits.empty() ? "" : ", ") + more; };
  if (option.get_required()) add("required");
  if (!option.get_default_str().empty()) add("default " + option.get_default_str());
  return described;
}

std::vector<OptionDescription> everywhere(const CLI::App& command) {
  std::vector<OptionDescription> options;
  if (const CLI::App* program = command.get_parent())
    for (const CLI::Option* option : program->get_options({}))
      if (option->get_configurable() && !option->get_group().empty() && option != program->get_help_ptr())
        options.push_back(described(*option));
  if (const CLI::Option* help = command.get_help_ptr()) {
    options.push_back(described(*help));
    options.back().about = "print this";
  }
  return options;
}

std::string sentence(std::string text) {
  if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text.ends_with('.') ? text : text + '.';
}

}  // namespace

std::string OptionDescription::name() const {
  if (names.empty()) return takes;
  return fmt::format("{}{}{}", fmt::join(names, ", "), takes.empty() ? "" : " ", takes);
}

std::string OptionDescription::text() const {
  return limits.empty() ? about : fmt::format("{} ({})", about, limits);
}

bool OptionDescription::takes_file() const {
  return takes_folder() || takes.find("FILE") != std::string::npos || takes.find("PATH") != std::string::npos;
}

std::string CommandDescription::usage() const {
  if (!commands.empty()) return line + " COMMAND [OPTIONS]";
  std::string text = line;
  for (const OptionDescription& argument : arguments)
    text += argument.required ? " " + argument.name() : " [" + argument.name() + "]";
  for (const OptionDescription& option : options)
    if (option.required) text += " " + option.name();
  return text + " [OPTIONS]";
}

CommandDescription description_of(const CLI::App& command) {
  CommandDescription result;
  result.name = command.get_name();
  result.line = command.get_parent() == nullptr ? result.name : command.get_parent()->get_name() + " " + result.name;
  result.about = sentence(command.get_description());
  result.brief = command.get_description();
  result.more = command.get_footer();
  for (const CLI::Option* option : command.get_options({})) {
    if (option->get_positional())
      result.arguments.push_back(described(*option));
    else if (!option->get_group().empty() && option != command.get_help_ptr())
      result.options.push_back(described(*option));
  }
  result.everywhere = everywhere(command);
  for (const CLI::App* inner : command.get_subcommands([](const CLI::App*) { return true; }))
    result.commands.push_back(description_of(*inner));
  return result;
}

}  // namespace headwave::cli
