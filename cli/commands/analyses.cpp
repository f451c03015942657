#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
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
                    {"finds", kind->finds},
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
  const std::string indent(width + 2, ' ');
  for (const Step step : {Step::landing, Step::positions, Step::waves, Step::prediction}) {
    fmt::print("{}{}:\n", step == Step::landing ? "" : "\n", text_of(step));
    for (const AnalysisKind* kind : listed_analyses()) {
      if (kind->step != step) continue;
      fmt::print("  {:{}}  {}{}\n", kind->name, width, kind->finds,
                 kind->always       ? " (always done)"
                 : kind->by_default ? ""
                                    : " (only where it is asked for)");
      fmt::print("  {}needs {}\n", indent, fmt::join(needs_of(*kind), ", "));
      const auto reads = names_of(kind->reads), one_of = names_of(kind->reads_one_of);
      if (!reads.empty()) fmt::print("  {}reads {}\n", indent, fmt::join(reads, ", "));
      if (!one_of.empty()) fmt::print("  {}reads one or more of {}\n", indent, fmt::join(one_of, ", "));
    }
  }
}

}  // namespace

void add_analyses(CLI::App& program, Command& chosen) {
  auto json = std::make_shared<bool>(false);
  CLI::App* command = program.add_subcommand("analyses", "list what a run can find, for --only");
  command->add_flag("--json", *json, "print JSON, for programs");
  add_examples(*command, {{"analyses", "every analysis: what it finds, what it needs, what it reads"}});
  command->final_callback([=, &chosen] {
    chosen = [=] {
      *json ? print_json() : print_list();
      return done;
    };
  });
}

}  // namespace headwave::cli
