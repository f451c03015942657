#include "../options/completion.h"

#include <cstdio>
#include <memory>

#include <CLI/CLI.hpp>

#include "../options/help.h"
#include "../options/values.h"
#include "commands.h"

namespace headwave::cli {

namespace {

std::string completion(const CommandDescription& program, const std::string& shell) {
  if (shell == "bash") return bash_completion(program);
  return shell == "zsh" ? zsh_completion(program) : fish_completion(program);
}

}  // namespace

void add_completion(CLI::App& program, Command& chosen) {
  auto shell = std::make_shared<std::string>();
  CLI::App* command = program.add_subcommand("completion", "print what a shell needs to complete command lines");
  command->add_option("shell", *shell, "the shell that is to read it")
      ->required()
      ->check(one_of({"bash", "zsh", "fish"}))
      ->type_name("SHELL");
  add_examples(*command, {{"completion bash > ~/.local/share/bash-completion/completions/headwave",
                           "for bash with its package bash-completion; without that, read the file from ~/.bashrc"},
                          {"completion zsh > ~/.zfunc/_headwave", "for zsh, in a folder of its $fpath"},
                          {"completion fish > ~/.config/fish/completions/headwave.fish", "for fish"}});
  command->final_callback([=, &program, &chosen] {
    chosen = [=, &program] {
      std::fputs(completion(description_of(program), *shell).c_str(), stdout);
      return done;
    };
  });
}

}  // namespace headwave::cli
