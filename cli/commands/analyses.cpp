#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "../../analysis/registry/registry.h"
#include "../options/help.h"
#include "../terminal/terminal.h"
#include "commands.h"

namespace headwave::cli {

namespace {

/// Names of the listed ones: what only others read says nothing to people.
std::vector<std::string> names_of(const std::vector<AnalysisKind::Of>& kinds) {
  std::vector<std::string> names;
  for (const AnalysisKind::Of kind : kinds)
    if (kind().listed) names.emplace_back(kind().name);
  return names;
}

std::vector<std::string> needs_of(const AnalysisKind& kind) {
  std::vector<std::string> needs;
  for (const Need need : kind.needs) needs.emplace_back(text_of(need));
  return needs;
}

void print_json() {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const AnalysisKind* kind : listed_analyses())
    list.push_back({{"name", kind->name},
                    {"asks", kind->asks},
                    {"step", text_of(kind->step)},
                    {"needs", needs_of(*kind)},
                    {"reads", names_of(kind->reads)},
                    {"reads_one_of", names_of(kind->reads_one_of)},
                    {"always", kind->always},
                    {"by_default", kind->by_default}});
  fmt::print("{}\n", list.dump(2));
}

void print_list() {
  std::size_t width = 0;
  for (const AnalysisKind* kind : listed_analyses()) width = std::max(width, kind->name.size());
  for (const bool by_default : {true, false}) {
    fmt::print("{}\n", by_default ? "Done by default, where the model and the input have what they need:"
                                  : "\nDone with --everything, or by name with --only:");
    for (const AnalysisKind* kind : listed_analyses())
      if ((kind->always || kind->by_default) == by_default) fmt::print("  {:{}}  {}\n", kind->name, width, kind->asks);
  }
}

}  // namespace

void add_analyses(CLI::App& program, Command& chosen) {
  auto json = std::make_shared<bool>(false);
  CLI::App* command =
      program.add_subcommand("analyses", "list the questions that a run can answer, and which it answers by default");
  command->add_flag("--json", *json, "print JSON, for programs");
  add_examples(*command, {{"analyses", "every analysis and the question that it answers"},
                          {"analyses --json", "also what each needs of the input, and which others it reads"}});
  command->final_callback([=, &chosen] {
    chosen = [=] {
      *json ? print_json() : print_list();
      return done;
    };
  });
}

}  // namespace headwave::cli
