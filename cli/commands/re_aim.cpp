#include <memory>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "../../job/studies/re_aiming.h"
#include "../../reports/tables/re_aiming_table.h"
#include "../options/help.h"
#include "../options/input_options.h"
#include "../options/job_options.h"
#include "../options/values.h"
#include "../results/output_folder.h"
#include "../results/result_folder.h"
#include "../terminal/progress.h"
#include "../terminal/terminal.h"
#include "commands.h"

namespace headwave::cli {

namespace {

struct ReAimCommand {
  InputOptions input;
  ReAimingOptions re_aiming;
  FolderOptions folder;
  Index furthest = 4;
  std::uint64_t seed = 1;
};

int re_aim(ReAimCommand& options, const SourceOptions& given) {
  OutputFolder folder = opened_folder(options.folder, read_files(options.input));
  const JobInput input = input_of(options.input, given, options.seed);
  for (const std::string& name : options.folder.drawing.heads) options.re_aiming.heads.push_back(parse_head_name(name));
  options.re_aiming.shifts = shifts_to(options.furthest);
  const ReAiming found = re_aiming(input.model, *input.source, options.re_aiming, progress());
  Result result = result_of(found, input, options.re_aiming, options.seed);
  const std::string table = terminal_table(re_aiming_columns(result));
  write_folder(folder, std::move(result), options.folder, [&] { fmt::print("{}", table); });
  return done;
}

}  // namespace

void add_re_aim(CLI::App& program, Command& chosen) {
  auto options = std::make_shared<ReAimCommand>();
  CLI::App* command = program.add_subcommand(
      "re-aim",
      "give each position the key of the one u tokens further on, and see whether attention moves by -u, as it does "
      "where position alone decides");
  const SourceOptions source = add_input_options(*command, options->input,
                                                 {"stored states are what the model has computed; re-aiming changes it",
                                                  "re-aiming is the intervention here", ""});
  command->add_option("--furthest", options->furthest, "shifts u = -furthest .. furthest, in tokens")
      ->check(whole_number(1, 64))
      ->capture_default_str();
  CLI::Option* heads = command
                           ->add_option("--heads", options->folder.drawing.heads,
                                        "heads whose keys are re-aimed: L2H3,L7H8 (layers and heads count from 0)")
                           ->delimiter(',')
                           ->type_name("HEADS");
  command
      ->add_option("--most-heads", options->re_aiming.most_heads,
                   "without --heads: so many, the clearest offsets first")
      ->check(whole_number(1, 100000))
      ->excludes(heads)
      ->capture_default_str();
  command->add_option("--reach", options->re_aiming.reach, "offsets are searched up to this, in tokens")
      ->check(whole_number(1, 4096))
      ->capture_default_str();
  command->add_option("--level", options->re_aiming.level, "chance that a head without a preference is given an offset")
      ->check(real_number(1e-12, 0.5))
      ->capture_default_str();
  command->add_option("--seed", options->seed, "seed of everything random")
      ->check(not_negative())
      ->capture_default_str();
  command->add_option("--threads", options->re_aiming.threads, "0: one per core; changes no digit")
      ->check(whole_number(0, 1024))
      ->capture_default_str();
  add_folder_options(*command, options->folder, true, {false, false, false});
  add_examples(*command,
               {{"re-aim --model minilm --text text.txt --documents 10 --length 256 --heads L0H2,L1H3 --out moved",
                 "two heads, every shift from -4 to +4: does attention move by as much?"},
                {"re-aim --model minilm --text text.txt --documents 5 --most-heads 4 --furthest 2 --out clearest",
                 "the four heads with the clearest offsets, by up to two tokens"}});
  command->final_callback([=, &chosen] {
    require_usage(source, options->input);
    chosen = [=] { return re_aim(*options, source); };
  });
}

}  // namespace headwave::cli
