#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "../../job/studies/reproduction.h"
#include "../../reports/drawing/terminal_table.h"
#include "../options/help.h"
#include "../options/input_options.h"
#include "../options/job_options.h"
#include "../results/output_folder.h"
#include "../results/result_folder.h"
#include "../terminal/progress.h"
#include "../terminal/terminal.h"
#include "commands.h"

namespace headwave::cli {

namespace {

struct ReproduceCommand {
  InputOptions input;
  JobOptions job;
  FolderOptions folder;
};

std::string measured_text(double number) {
  return std::isnan(number) ? "undefined" : fmt::format("{:.4g}", number);
}

std::string within_text(const ReproducedQuantity& quantity) {
  if (!quantity.compared()) return "";
  if (std::isinf(quantity.high)) return fmt::format("at least {:g}", quantity.low);
  return quantity.low == quantity.high ? fmt::format("{:g}", quantity.low)
                                       : fmt::format("{:g} to {:g}", quantity.low, quantity.high);
}

std::string verdict_text(const ReproducedQuantity& quantity) {
  if (!quantity.compared()) return "";
  return quantity.agrees() ? "agrees" : "differs";
}

/// How many of the published quantities were measured otherwise.
struct Verdict {
  int differing = 0, compared = 0;
};

Verdict verdict(const Reproduction& found) {
  Verdict verdict;
  for (const ReproducedQuantity& quantity : found.quantities) {
    verdict.compared += quantity.compared() ? 1 : 0;
    verdict.differing += quantity.compared() && !quantity.agrees() ? 1 : 0;
  }
  return verdict;
}

/// @param published  whether anything is: columns about it would be empty
void print_table(const Reproduction& found, bool published) {
  TableColumn names{"quantity", Align::left, {}}, units{"unit", Align::left, {}},
      reported{"published", Align::left, {}}, measured{"measured", Align::right, {}},
      within{"agrees within", Align::left, {}}, verdicts{"", Align::left, {}};
  for (const ReproducedQuantity& quantity : found.quantities) {
    names.cells.push_back(quantity.name);
    units.cells.push_back(quantity.unit);
    reported.cells.push_back(quantity.published);
    measured.cells.push_back(measured_text(quantity.measured));
    within.cells.push_back(within_text(quantity));
    verdicts.cells.push_back(verdict_text(quantity));
  }
  fmt::print("{}", published ? terminal_table({names, units, reported, measured, within, verdicts})
                             : terminal_table({names, units, measured}));
}

int reproduce(ReproduceCommand& options, const SourceOptions& given) {
  OutputFolder folder = opened_folder(options.folder, read_files(options.input));
  const auto input = [&] {
    JobInput opened = input_of(options.input, given, options.job.seed);
    require_maps(options.job, *opened.source);
    return opened;
  };
  Reproduction found = reproduction(input, options.job, progress());
  const auto [differing, compared] = verdict(found);
  write_folder(folder, found.result, options.folder, [&] {
    print_table(found, compared > 0);
    if (compared == 0)
      say("nothing is published of this model; numbers are published of roberta-base and gpt2");
    else
      say(fmt::format("{} of {} published quantities of {} agree", compared - differing, compared, found.model));
  });
  return differing > 0 ? different : done;
}

}  // namespace

void add_reproduce(CLI::App& program, Command& chosen) {
  auto options = std::make_shared<ReproduceCommand>();
  CLI::App* command = program.add_subcommand(
      "reproduce",
      "measure on a model all that the paper reports, published beside measured; exits with 3 where they differ");
  const SourceOptions source = add_input_options(*command, options->input,
                                                 {"the list includes runs of the model with words or positions alone",
                                                  "the list has interventions of its own", ""});
  add_job_options(*command, options->job, "the list needs every analysis");
  add_folder_options(*command, options->folder, true);
  add_examples(*command,
               {{"reproduce --model minilm --text text.txt --documents 20 --out list",
                 "the paper's numbers, measured on a model of your own"},
                {"reproduce --model minilm --text text.txt --documents 20 --length 256 --no-figures --out short",
                 "the same on shorter documents, without figures"}});
  command->final_callback([=, &chosen] {
    require_usage(source, options->input);
    chosen = [=] { return reproduce(*options, source); };
  });
}

}  // namespace headwave::cli
