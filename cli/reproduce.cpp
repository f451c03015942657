#include <chrono>
#include <cmath>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "headwave/cli/commands.h"
#include "headwave/cli/job_options.h"
#include "headwave/cli/result_folder.h"
#include "headwave/cli/run_input.h"
#include "headwave/cli/terminal.h"
#include "headwave/job/reproduction.h"
#include "headwave/job/result_size.h"
#include "headwave/reports/terminal_table.h"

namespace headwave::cli {

namespace {

struct ReproduceCommand {
  InputOptions input;
  JobOptions job;
  FolderOptions folder;
};

std::string number_text(double number) {
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

void print_table(const Reproduction& found) {
  std::vector<TableColumn> columns{{"quantity", Align::left, {}},      {"unit", Align::left, {}},
                                   {"published", Align::left, {}},     {"measured", Align::right, {}},
                                   {"agrees within", Align::left, {}}, {"", Align::left, {}}};
  for (const ReproducedQuantity& quantity : found.quantities) {
    columns[0].cells.push_back(quantity.name);
    columns[1].cells.push_back(quantity.unit == "1" ? "" : quantity.unit);
    columns[2].cells.push_back(quantity.published);
    columns[3].cells.push_back(number_text(quantity.measured));
    columns[4].cells.push_back(within_text(quantity));
    columns[5].cells.push_back(verdict_text(quantity));
  }
  fmt::print("{}", terminal_table(columns));
}

int reproduce(ReproduceCommand& options, const SourceOptions& given) {
  const auto start = std::chrono::steady_clock::now();
  OutputFolder folder = opened_folder(options.folder);
  const auto input = [&] {
    JobInput opened = input_of(options.input, given, options.job.seed);
    folder.require_space(result_bytes(opened.model, *opened.source, options.job));
    return opened;
  };
  Reproduction found = reproduction(input, options.job, progress_line());
  const auto [differing, compared] = verdict(found);
  write_folder(
      folder, found.result, options.folder,
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), [&] {
        print_table(found);
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
      "reproduce", "the paper's whole list on a model: published beside measured; exits with 3 where they differ");
  const SourceOptions source = add_input_options(*command, options->input);
  add_job_options(*command, options->job);
  add_folder_options(*command, options->folder, true);
  command->final_callback([=, &chosen] {
    require_usage(source, options->input);
    if (!source.states->empty())
      throw CLI::ValidationError("--states", "the list includes runs of the model with words or positions alone");
    if (!options->input.interventions.empty())
      throw CLI::ValidationError("--intervene", "the list has interventions of its own");
    if (!options->job.only.empty()) throw CLI::ValidationError("--only", "the list needs every analysis");
    chosen = [=] { return reproduce(*options, source); };
  });
}

}  // namespace headwave::cli
