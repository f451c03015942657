#include <algorithm>
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
#include "../../data/files/printable.h"
#include "../../data/hdf5/hdf5_file.h"
#include "../../data/results/result_file.h"
#include "../../data/sources/state_writer.h"
#include "../../data/sources/stored_profiles.h"
#include "../../reports/drawing/visible_text.h"
#include "../options/help.h"
#include "../results/result_path.h"
#include "../terminal/terminal.h"
#include "commands.h"

namespace headwave::cli {

namespace {

namespace fs = std::filesystem;

/// A line for each file, and one for everything that is wrong in it.
/// @returns done where it is as it was written, different where not, failed where that cannot be told
int validity(const fs::path& file) {
  try {
    // Before the library sees a byte of it: over damaged ones it may take its time, or crash.
    const bool sealed = require_right_seal(result_path(file));
    const Hdf5File opened(result_path(file));
    const Attributes about = opened.attributes("/");
    const char* what = attribute_text(about, "format") == profiles_format      ? "profiles"
                       : attribute_text(about, "title") == stored_states_title ? "captured states"
                                                                               : nullptr;
    if (what != nullptr) {
      if (!sealed)
        throw FormatError(
            fmt::format("{}: {} without the digest at the file's end: another program changed it, or it is damaged",
                        shown_path(file), what));
      fmt::print("{}: whole; {}, every byte as the digest at the file's end says\n", visible_text(file.string()), what);
      return done;
    }
    const ResultContent content = require_whole_result(result_path(file));
    fmt::print("{}: whole; schema {}, {} arrays, every byte as the digest at the file's end says\n",
               visible_text(file.string()), content.schema_version, content.arrays);
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
  CLI::App* command =
      program.add_subcommand("validate",
                             "check that results, captured states and profiles are as they were written; exits with 3 "
                             "where one is not, with 1 where one cannot be read");
  command->add_option("path", *paths, "results.h5 of earlier runs, or their folders")->required()->type_name("PATH");
  add_examples(*command, {{"validate result states.h5", "every byte of the files against the digests at their ends"},
                          {"validate result/results.h5 -q && echo whole", "for scripts: the exit code says it"}});
  command->final_callback([=, &chosen] { chosen = [=] { return validate(*paths); }; });
}

}  // namespace headwave::cli
