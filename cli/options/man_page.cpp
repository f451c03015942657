#include "man_page.h"

#include <algorithm>
#include <cctype>
#include <sstream>
#include <vector>

#include <fmt/format.h>

namespace headwave::cli {

namespace {

/// Characters that roff would take for its own, or print as others; ASCII, as help is.
std::string roff(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '\\':
        out += "\\e";
        break;
      case '-':
        out += "\\-";
        break;
      case '`':
        out += "\\(ga";
        break;
      case '\'':
        out += "\\(aq";
        break;
      case '^':
        out += "\\(ha";
        break;
      case '~':
        out += "\\(ti";
        break;
      case '"':
        out += "\\(dq";
        break;
      default:
        out += c;
    }
  }
  return out.starts_with('.') ? "\\&" + out : out;
}

std::string man_heading(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return ".SH \"" + roff(text) + "\"\n";
}

std::string man_entry(const std::string& name, const std::string& text) {
  return fmt::format(".TP\n.B {}\n{}\n", roff(name), roff(text));
}

std::string man_entries(const std::string& title, const std::vector<OptionDescription>& options) {
  if (options.empty()) return "";
  std::string text = man_heading(title);
  for (const OptionDescription& option : options) text += man_entry(option.name(), option.text());
  return text;
}

/// Options under the headings that --help gives them.
std::string man_options(const CommandDescription& command) {
  std::vector<std::string> groups;
  for (const OptionDescription& option : command.options)
    if (std::ranges::find(groups, option.group) == groups.end()) groups.push_back(option.group);
  std::string text;
  for (const std::string& group : groups) {
    std::vector<OptionDescription> members;
    std::ranges::copy_if(command.options, std::back_inserter(members),
                         [&](const OptionDescription& option) { return option.group == group; });
    text += man_entries(group, members);
  }
  return text;
}

/// Lines as they are; of a command's examples, without the title that stands above them.
std::string man_lines(const std::string& text, bool titled) {
  std::string out = ".nf\n", line;
  std::istringstream from(text);
  if (titled) std::getline(from, line);
  while (std::getline(from, line)) out += roff(line) + "\n";
  return out + ".fi\n";
}

}  // namespace

std::string man_name(const CommandDescription& program, const CommandDescription& command) {
  return command.name == program.name ? program.name : program.name + "-" + command.name;
}

std::string man_page(const CommandDescription& program, const CommandDescription& command) {
  const std::string name = man_name(program, command);
  const bool is_program = name == program.name;
  std::string page = fmt::format(".TH \"{0}\" 1 \"\" \"headwave {1}\" \"headwave\"\n.SH NAME\n{0} \\- {2}\n",
                                 roff(name), HEADWAVE_VERSION, roff(command.brief));
  page += ".SH SYNOPSIS\n.nf\n" + roff(command.usage()) + "\n.fi\n.SH DESCRIPTION\n" + roff(command.about) + "\n";
  if (is_program) {
    page += man_heading("commands");
    for (const CommandDescription& inner : command.commands) page += man_entry(inner.name, inner.brief);
  }
  page += man_entries("arguments", command.arguments) + man_options(command) +
          man_entries("everywhere", command.everywhere);
  if (!command.more.empty())
    page += man_heading(is_program ? "notes" : "examples") + man_lines(command.more, !is_program);
  page += ".SH \"SEE ALSO\"\n";
  if (!is_program) return page + ".BR headwave (1)\n";
  for (const CommandDescription& inner : command.commands)
    page += fmt::format(".BR {} (1){}\n", roff(man_name(program, inner)),
                        inner.name == command.commands.back().name ? "" : ",");
  return page;
}

}  // namespace headwave::cli
