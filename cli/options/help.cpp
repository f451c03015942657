#include "help.h"

#include <algorithm>
#include <cctype>
#include <memory>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "../../core/errors/nearest_name.h"
#include "../../data/files/printable.h"
#include "../../reports/drawing/visible_text.h"

namespace headwave::cli {

namespace {

constexpr std::size_t line_width = 96, text_column = 28;

std::string wrapped(const std::string& text, std::size_t column, const std::string& indent = "") {
  return wrapped_text(text, line_width, column, indent);
}

/// The placeholder of an option's value: "DIR", "N"; empty for flags.
std::string taken_by(const CLI::Option& option) {
  if (option.get_expected_max() == 0) return "";
  // The name of a type and what validators say, which CLI11 joins by colons: "INT:1 to 100".
  const std::string joined = option.get_type_name(), type = joined.substr(0, joined.find(':'));
  return type == "INT" || type == "UINT" ? "N" : type == "FLOAT" ? "X" : type;
}

/// The allowed values of an option, from its validators: "1 to 1000", "pdf, svg or png".
std::string limits_of(const CLI::Option& option) {
  const std::string joined = option.get_expected_max() == 0 ? "" : option.get_type_name();
  const std::size_t colon = joined.find(':');
  return colon == std::string::npos ? "" : joined.substr(colon + 1);
}

/// Lays out every part of a help text, because versions of CLI11 differ in their titles and blank lines, and
/// since 2.5 they refill paragraphs, even those of examples.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override {
    return make_description(app) + make_usage(app, name) + sections(app) + make_subcommands(app, mode) + "\n" +
           make_footer(app);
  }
  std::string make_usage(const CLI::App* app, std::string name) const override {
    std::string line = fmt::format("Usage: {} [OPTIONS]", name);
    for (const CLI::Option* argument : arguments(app)) line += " " + make_option_usage(argument);
    return line + (app->get_subcommands({}).empty() ? "\n" : " COMMAND\n");
  }
  std::string make_description(const CLI::App* app) const override {
    std::string text = app->get_description();
    text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
    return wrapped(text.ends_with('.') ? text : text + '.', 0) + "\n\n";
  }
  std::string make_subcommand(const CLI::App* command) const override {
    return entry(command->get_name(), command->get_description());
  }
  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    const std::string takes = taken_by(*option);
    if (is_positional) return entry(takes, text_of(*option));
    std::vector<std::string> names;
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    return entry(fmt::format("{}{}{}", fmt::join(names, ", "), takes.empty() ? "" : " ", takes), text_of(*option));
  }
  /// The examples, and the options that every command has.
  std::string make_footer(const CLI::App* app) const override {
    std::string text = app->get_footer();
    if (const CLI::App* program = app->get_parent())
      text += make_group("Everywhere", false, program->get_options([&](const CLI::Option* option) {
        return option->get_configurable() && !option->get_group().empty() && option != program->get_help_ptr();
      }));
    return text + "\n";
  }

 private:
  static std::vector<const CLI::Option*> arguments(const CLI::App* app) {
    return app->get_options(
        [](const CLI::Option* option) { return option->get_positional() && !option->get_group().empty(); });
  }
  std::string sections(const CLI::App* app) const {
    std::string text;
    const auto add = [&](const std::string& title, bool positional, const std::vector<const CLI::Option*>& listed) {
      if (!listed.empty()) text += make_group(title, positional, listed);
    };
    add("Arguments", true, arguments(app));
    for (const std::string& group : app->get_groups()) {
      const bool unnamed = group == app->get_help_ptr()->get_group();  // "Options", and "OPTIONS" since CLI11 2.5
      if (!group.empty())
        add(unnamed ? "Options" : group, false, app->get_options([&](const CLI::Option* option) {
          return option->nonpositional() && option->get_group() == group;
        }));
    }
    return text;
  }
  static std::string entry(const std::string& name, const std::string& text) {
    std::string line = "  " + name;
    if (line.size() + 2 > text_column) line += "\n";
    line.resize(line.ends_with('\n') ? line.size() + text_column : text_column, ' ');
    return line + wrapped(text, text_column, std::string(text_column, ' ')) + "\n";
  }
  static std::string text_of(const CLI::Option& option) {
    std::string limits = limits_of(option);
    const auto add = [&](const std::string& more) { limits += (limits.empty() ? "" : ", ") + more; };
    if (option.get_required()) add("required");
    if (!option.get_default_str().empty()) add("default " + option.get_default_str());
    return limits.empty() ? option.get_description() : fmt::format("{} ({})", option.get_description(), limits);
  }
};

}  // namespace

void add_examples(CLI::App& command, const std::vector<Example>& examples) {
  std::string text = "Examples:\n";
  for (const Example& example : examples)
    text += fmt::format("  headwave {}\n      {}\n", example.line, wrapped(example.what, 6, "      "));
  command.footer(text);
}

void lay_out_help(CLI::App& program) {
  program.formatter(std::make_shared<HelpFormatter>());
  for (CLI::App* command : program.get_subcommands({})) {
    command->group("Commands");
    command->formatter(program.get_formatter());
  }
}

namespace {

std::vector<const CLI::App*> all_commands(const CLI::App& program) {
  return program.get_subcommands([](const CLI::App*) { return true; });
}

std::string unknown_command(const CLI::App& program, const std::string& name) {
  std::vector<std::string> names;
  for (const CLI::App* command : all_commands(program)) names.push_back(command->get_name());
  const std::string meant = did_you_mean(name, names);
  return fmt::format("there is no command '{}'{}", printable(name, 60),
                     meant.empty() ? "; `headwave --help` lists them" : meant);
}

/// The options of a command that --help shows, with dashes.
std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options({})) {
    if (option->get_group().empty()) continue;
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

std::string unknown_option(const CLI::App& program, const CLI::App& command, const std::string& typed) {
  const std::string name = typed.substr(0, typed.find('='));
  const std::string line = &program == &command ? "headwave" : "headwave " + command.get_name();
  std::vector<std::string> names = option_names(command);
  if (std::ranges::count(names, name) > 0)
    return fmt::format("headwave: {} was given before the command; give it after the command", name);
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
    // The value of an unknown option is unknown too; the error names the option.
    for (const std::string& word : unknown)
      if (word.size() > 1 && word.starts_with('-')) return unknown_option(program, command, word);
    return fmt::format("headwave {0}: unexpected argument '{1}'; `headwave {0} --help` lists what is expected",
                       command.get_name(), printable(unknown.front(), 60));
  }
  if (chosen.empty()) return "expected a command; `headwave --help` lists them";
  return fmt::format("headwave {}: {}", command.get_name(), error.what());
}

}  // namespace headwave::cli
