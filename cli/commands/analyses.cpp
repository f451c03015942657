#include <algorithm>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "../../analysis/registry/registry.h"
#include "../options/help.h"
#include "../terminal/terminal.h"
#include "commands.h"

namespace headwave::cli {

namespace {

void print_list() {
  std::size_t width = 0;
  for (const AnalysisKind* kind : analysis_kinds()) width = std::max(width, kind->name.size());
  for (const bool by_default : {true, false}) {
    fmt::print("{}\n", by_default ? "Run by default, if the model and the input have what they need:"
                                  : "\nRun with --everything, or by name with --only:");
    for (const AnalysisKind* kind : analysis_kinds())
      if ((kind->always || kind->by_default) == by_default) fmt::print("  {:{}}  {}\n", kind->name, width, kind->asks);
  }
}

}  // namespace

void add_analyses(CLI::App& program, Command& chosen) {
  CLI::App* command = program.add_subcommand("analyses", "list all analyses, and which of them run by default");
  add_examples(*command, {{"analyses", "every analysis and its question"}});
  command->final_callback([&chosen] {
    chosen = [] {
      print_list();
      return done;
    };
  });
}

}  // namespace headwave::cli
