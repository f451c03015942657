#include <cstdio>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../../data/files/digest.h"
#include "../../reports/drawing/visible_text.h"
#include "../options/help.h"
#include "../results/result_path.h"
#include "../terminal/terminal.h"
#include "commands.h"

namespace headwave::cli {

namespace {

namespace fs = std::filesystem;

/// Prints a line for a file.
/// @returns done if it is as it was written, different if not, failed if that cannot be told
int validity(const fs::path& file) {
  try {
    require_sealed(result_path(file));
    fmt::print("{}: intact: all bytes match the digest at its end\n", visible_text(file.string()));
    return done;
  } catch (const IoError& problem) {
    fmt::print(stderr, "headwave: error: {}\n", visible_text(error_message(problem)));
    return failed;
  } catch (const Error& problem) {
    fmt::print("{}\n", visible_text(error_message(problem)));
    return different;
  }
}

int validate(const std::vector<fs::path>& paths) {
  std::set<int> codes{done};
  for (const fs::path& path : paths) {
    const auto files = result_files(path);
    if (files.empty()) codes.insert(validity(path));
    for (const auto& [kind, file] : files) codes.insert(validity(file));
  }
  if (codes.contains(different)) return different;
  return *codes.rbegin();
}

}  // namespace

void add_validate(CLI::App& program, Command& chosen) {
  auto paths = std::make_shared<std::vector<fs::path>>();
  CLI::App* command = program.add_subcommand(
      "validate", "check results, captured states and profiles against their digests; exits with 3 if bytes changed");
  command->add_option("path", *paths, "results, other files of headwave, or their folders")
      ->required()
      ->type_name("PATH");
  add_examples(*command, {{"validate result states.h5", "check every byte"},
                          {"validate result/results.h5 -q && echo intact", "in a script"}});
  command->final_callback([=, &chosen] { chosen = [=] { return validate(*paths); }; });
}

}  // namespace headwave::cli
