#include <filesystem>
#include <memory>
#include <vector>

#include <CLI/CLI.hpp>

#include "../../job/inputs/identity.h"
#include "../../job/inputs/job_input.h"
#include "../../job/inputs/run_input.h"
#include "../../job/run/shard_files.h"
#include "../options/help.h"
#include "../options/job_file.h"
#include "../options/job_options.h"
#include "../results/output_folder.h"
#include "../results/whole_run.h"
#include "../terminal/progress.h"
#include "commands.h"

namespace headwave::cli {

namespace {

struct MergeOptions : WholeRunOptions {
  std::vector<std::filesystem::path> parts;
};

int merge(const CLI::App& command, MergeOptions& options, const ShardFiles& parts) {
  std::vector<std::filesystem::path> read = read_files(options.input);
  read.insert(read.end(), options.parts.begin(), options.parts.end());
  const OutputFolder folder = opened_folder(options.folder, read);
  Attributes identity;
  std::vector<KindResult> results;
  within_memory(options, [&](const JobInput& input) {
    identity = run_identity(input, options.job);
    results = run_input(input, options.job, progress(),
                        [&](DocumentPass& pass, StageReport& report) { parts.gather(identity, pass, report); });
  });
  for (KindResult& found : results) found.result.provenance["merged_parts"] = std::int64_t{parts.files()};
  write_run(folder, results, options, identity, job_text(command, {"out"}));
  show_run(folder, results, options);
  return done;
}

}  // namespace

void add_merge(CLI::App& program, Command& chosen) {
  auto options = std::make_shared<MergeOptions>();
  CLI::App* command =
      program.add_subcommand("merge", "join the parts of a divided run; the result equals that of the undivided run");
  command
      ->add_option("parts", options->parts,
                   "folders that `headwave run --shard` made, all of them; options given here replace theirs")
      ->required()
      ->type_name("PARTS")
      ->configurable(false);
  add_whole_run_options(*command, *options);
  command->get_option("--profiles")->group("");
  add_examples(*command, {{"merge part-* --out result", "join all parts"},
                          {"merge part-* --model /data/minilm --text /data/text.txt --out result",
                           "if model and text have moved"}});
  command->final_callback([=, &chosen] {
    if (options->folder.folder.empty()) throw CLI::RequiredError("--out");
    auto parts = std::make_shared<ShardFiles>(options->parts);
    if (!options->input.profiles.empty())
      throw CLI::ValidationError("--profiles", "does not apply to merge; only `headwave run` reads profiles");
    read_job_text(*command, parts->job(), options->parts.front());
    require_usage(*command, options->input);
    require_read_options(*command, options->job);
    chosen = [=] { return merge(*command, *options, *parts); };
  });
}

}  // namespace headwave::cli
