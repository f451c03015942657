#include <cstdio>
#include <filesystem>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "../../data/files/replaced_file.h"
#include "../../reports/drawing/visible_text.h"
#include "../options/help.h"
#include "../options/man_page.h"
#include "../options/usage_message.h"
#include "../results/output_folder.h"
#include "../terminal/terminal.h"
#include "commands.h"

namespace headwave::cli {

namespace {

namespace fs = std::filesystem;

struct ManOptions {
  std::string command;
  fs::path folder;
  bool force = false;
};

/// The page of every command, and the program's.
int write_pages(const CommandDescription& program, const ManOptions& options) {
  std::vector<CommandDescription> pages = program.commands;
  pages.push_back(program);
  OutputFiles names;
  for (const CommandDescription& page : pages) names.written.emplace_back(man_name(program, page) + ".1");
  const OutputFolder folder(options.folder, names, options.force);
  for (const CommandDescription& page : pages)
    write_text(folder.path() / (man_name(program, page) + ".1"), man_page(program, page));
  say(fmt::format("wrote {} pages to {}", pages.size(), visible_text(folder.path().string())));
  return done;
}

int man(const CLI::App& app, const ManOptions& options) {
  const CommandDescription program = description_of(app);
  if (!options.folder.empty()) return write_pages(program, options);
  const CommandDescription asked =
      options.command.empty() ? program : description_of(command_named(app, options.command));
  std::fputs(man_page(program, asked).c_str(), stdout);
  return done;
}

}  // namespace

void add_man(CLI::App& program, Command& chosen) {
  auto options = std::make_shared<ManOptions>();
  CLI::App* command = program.add_subcommand("man", "print the manual page of a command, or write all of them");
  CLI::Option* name =
      command->add_option("command", options->command, "one of those that `headwave help` lists")->type_name("COMMAND");
  CLI::Option* folder = command->add_option("--out", options->folder, "folder for the pages of all commands")
                            ->type_name("DIR")
                            ->excludes(name);
  command->add_flag("--force", options->force, "replace pages that are already there")->needs(folder);
  add_examples(*command, {{"man run | man -l -", "read the page of a command that is not installed"},
                          {"man --out ~/.local/share/man/man1", "put all pages where `man headwave` finds them"}});
  command->final_callback([=, &program, &chosen] { chosen = [=, &program] { return man(program, *options); }; });
}

}  // namespace headwave::cli
