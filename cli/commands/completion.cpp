#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "../options/help.h"
#include "../options/values.h"
#include "commands.h"

namespace headwave::cli {

namespace {

using Words = std::vector<std::string>;

/// What each shell reads: it asks the program itself, and offers files where the program offers nothing.
const std::map<std::string, const char*> scripts{
    {"bash", R"(_headwave() {
  local IFS=$'\n'
  COMPREPLY=($("${COMP_WORDS[0]}" completion words -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _headwave headwave
)"},
    {"zsh", R"(#compdef headwave
_headwave() {
  local -a found
  found=("${(@f)$($words[1] completion words -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n $found ]]; then compadd -a found; else _files; fi
}
_headwave "$@"
)"},
    {"fish",
     R"(complete -c headwave -a '(headwave completion words -- (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'
)"}};

Words names_of(const std::vector<const CLI::App*>& commands) {
  Words names;
  for (const CLI::App* command : commands) names.push_back(command->get_name());
  return names;
}

/// The words that an option or argument takes; none where it takes something else.
Words words_of(const CLI::Option& option, const CLI::App& program) {
  if (taken_by(option) == "COMMAND") return names_of(program.get_subcommands([](const CLI::App*) { return true; }));
  return words_in(limits_of(option));
}

/// What the last of some words can become.
Words completed(const CLI::App& program, Words typed) {
  std::string begun = typed.empty() ? "" : typed.back();
  if (!typed.empty()) typed.pop_back();
  if (begun == "=") begun.clear();  // bash takes --option=value apart
  if (!typed.empty() && typed.back() == "=") typed.pop_back();

  const CLI::App* command = nullptr;
  for (const CLI::App* one : program.get_subcommands([](const CLI::App*) { return true; }))
    if (std::ranges::count(typed, one->get_name()) > 0 && command == nullptr) command = one;
  const CLI::Option* option = nullptr;
  if (command != nullptr && !typed.empty() && typed.back().starts_with('-'))
    option = command->get_option_no_throw(typed.back());

  Words offered;
  if (command == nullptr) {
    offered = names_of(program.get_subcommands([](const CLI::App*) { return true; }));
  } else if (option != nullptr && option->get_expected_max() > 0) {
    offered = words_of(*option, program);
    if (const std::size_t comma = begun.rfind(','); comma != std::string::npos)
      for (std::string& word : offered) word.insert(0, begun, 0, comma + 1);
  } else if (!begun.starts_with('-')) {
    for (const CLI::Option* argument : command->get_options({}))
      if (argument->get_positional() && offered.empty()) offered = words_of(*argument, program);
  }
  if (begun.starts_with('-') && option == nullptr) {
    offered = option_names(program);
    if (command != nullptr) std::ranges::copy(option_names(*command), std::back_inserter(offered));
  }
  std::erase_if(offered, [&](const std::string& word) { return !word.starts_with(begun); });
  return offered;
}

}  // namespace

void add_completion(CLI::App& program, Command& chosen) {
  auto shell = std::make_shared<std::string>();
  auto typed = std::make_shared<Words>();
  CLI::App* command = program.add_subcommand("completion", "print what a shell needs to complete command lines");
  command->add_option("shell", *shell, "shell that reads it; words: print what the last of WORDS can become")
      ->required()
      ->check(one_of({"bash", "zsh", "fish", "words"}))
      ->type_name("SHELL");
  command->add_option("words", *typed, "words of a command line after `headwave`, the last of which is begun")
      ->type_name("WORDS");
  add_examples(*command, {{"completion bash > ~/.local/share/bash-completion/completions/headwave",
                           "for bash with its package bash-completion; without that, read the file from ~/.bashrc"},
                          {"completion zsh > ~/.zfunc/_headwave", "for zsh, in a folder of its $fpath"},
                          {"completion fish > ~/.config/fish/completions/headwave.fish", "for fish"}});
  command->final_callback([=, &program, &chosen] {
    chosen = [=, &program] {
      if (*shell != "words")
        std::fputs(scripts.at(*shell), stdout);
      else
        for (const std::string& word : completed(program, *typed)) std::printf("%s\n", word.c_str());
      return done;
    };
  });
}

}  // namespace headwave::cli
