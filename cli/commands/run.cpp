#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "../../core/fields/head_name.h"
#include "../../core/numbers/error.h"
#include "../../data/hdf5/hdf5_file.h"
#include "../../data/results/result_file.h"
#include "../../job/inputs/run_input.h"
#include "../../job/run/unfinished_run.h"
#include "../../reports/drawing/gnuplot.h"
#include "../options/help.h"
#include "../options/job_file.h"
#include "../options/job_options.h"
#include "../options/keep_options.h"
#include "../options/run_input.h"
#include "../options/values.h"
#include "../results/kept_work.h"
#include "../results/provenance.h"
#include "../results/result_folder.h"
#include "../results/result_json.h"
#include "../results/run_needs.h"
#include "../terminal/progress.h"
#include "../terminal/terminal.h"
#include "commands.h"

namespace headwave::cli {

namespace {

namespace fs = std::filesystem;

struct RunOptions {
  InputOptions input;
  JobOptions job;
  FolderOptions folder;
  KeepOptions keep;
  bool json = false;       ///< print the result's listing in place of the table of heads
  bool dry_run = false;    ///< only say what the job would take
  std::string max_memory;  ///< "4GB"; empty: whatever it takes
  fs::path job_file;
  std::string job_text;  ///< the options as a job file, for the provenance
};

/// Said before the work is done, not after.
void require_heads(const FigureOptions& drawing, const Model& model) {
  for (const AttentionKind kind : model.kinds()) {
    const Stack& stack = model.stack_of(kind);
    for (const std::string& name : drawing.heads) {
      const HeadName head = parse_head_name(name);
      if (head.layer >= stack.layers() || head.head >= stack.block.heads)
        throw ShapeError(fmt::format("--heads: there is no {}; the model has {} layers of {} heads, L0H0 to {}", name,
                                     stack.layers(), stack.block.heads,
                                     head_name(stack.layers() - 1, stack.block.heads - 1)));
    }
  }
}

/// What the job would take, and nothing else.
int dry_run(RunOptions& options, const SourceOptions& given) {
  const auto start = std::chrono::steady_clock::now();
  if (options.folder.figures) require_gnuplot();
  const JobInput input = input_of(options.input, given, options.job.seed);
  const double reading = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  require_heads(options.folder.drawing, input.model);
  require_maps(options.job, *input.source);
  keep_within_memory(options.max_memory, input, options.job);
  RunNeeds needs = run_needs(input, options.job, options.folder);
  needs.reading = reading;
  end_progress();
  std::fputs(text_of(needs).c_str(), stdout);
  return done;
}

/// All that what documents give depends on.
Attributes identity_of(const JobInput& input, const JobOptions& options) {
  Attributes identity = input_identity(input);
  add_options(identity, options, 1);
  identity.erase("threads");
  return identity;
}

/// Whether the folder holds what this job would write already, so that there is nothing to go on with.
bool is_finished(RunOptions& options, const SourceOptions& given) {
  fs::path file = options.folder.folder / "results.h5";
  if (!fs::exists(file)) file = options.folder.folder / name_of(AttentionKind::self) / "results.h5";
  if (!options.keep.resume || options.folder.force || !fs::exists(file)) return false;
  const JobInput input = input_of(options.input, given, options.job.seed);
  return std::ranges::includes(read_result(Hdf5File(file), {}).provenance, identity_of(input, options.job));
}

/// The job, going on where an earlier run ended. What it came to stays in the file until somebody removes it.
std::vector<KindResult> run_kept(const JobInput& input, const JobOptions& options, UnfinishedRun& kept) {
  try {
    const LastWords words = resume_words();
    return run_input(input, options, progress(), &kept);
  } catch (const IoError&) {
    throw;
  } catch (const Error&) {
    kept.remove();  // another run would come to the same end
    throw;
  }
}

int run(const CLI::App& command, RunOptions& options, const SourceOptions& given) {
  const auto start = std::chrono::steady_clock::now();
  if (options.dry_run) return dry_run(options, given);
  if (is_finished(options, given)) {
    forget_kept(options.folder.folder / unfinished_name, options.folder.folder / OutputFiles().lock);
    say(fmt::format("{}: the job is finished; there is nothing to go on with", options.folder.folder.string()));
    if (options.json) std::fputs(folder_json(options.folder.folder).c_str(), stdout);
    return done;
  }
  OutputFolder folder = opened_folder(options.folder);
  const fs::path file = kept_file(folder, unfinished_name, options.keep, options.folder.force);
  const JobInput input = input_of(options.input, given, options.job.seed);
  require_heads(options.folder.drawing, input.model);
  require_maps(options.job, *input.source);
  keep_within_memory(options.max_memory, input, options.job);
  require_disk(folder, input, options.job, options.folder, options.keep.keep_every);
  UnfinishedRun kept(file, identity_of(input, options.job), options.keep.keep_every);
  std::vector<KindResult> results = run_kept(input, options.job, kept);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  for (KindResult& found : results) {
    found.result.provenance["job"] = options.job_text;
    if (kept.documents() > 0)
      found.result.provenance["resumed_after_documents"] = static_cast<std::int64_t>(kept.documents());
    say_fewer_map_tokens(command, found.result, options.folder.drawing);
  }
  write_results(folder, results, seconds);
  kept.remove();
  if (!options.json) {
    show_results(folder, results, options.folder);
    return done;
  }
  end_progress();
  std::fputs(folder_json(folder.path()).c_str(), stdout);
  require_printed();
  write_figures(folder, results, options.folder);
  return done;
}

}  // namespace

void add_run(CLI::App& program, Command& chosen) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* command =
      program.add_subcommand("run", "follow every head of a model over text, token ids, images or stored states");
  const SourceOptions source = add_input_options(*command, options->input);
  add_folder_options(*command, options->folder, false);
  command
      ->add_flag("--dry-run", options->dry_run,
                 "say what time, memory and disk the job would take, from a short trial; write nothing")
      ->configurable(false);
  command->add_flag("--json", options->json, "print what `inspect --json` prints of the result, in place of its table")
      ->excludes("--dry-run")
      ->configurable(false);
  add_keep_options(*command, "run", options->keep);
  command->get_option("--force")->configurable(false);
  command
      ->add_option(
          "--max-memory", options->max_memory,
          "resident memory that the run may take, 4GB: threads are given up for it; changes no digit of the result")
      ->check(byte_size())
      ->type_name("SIZE");
  command
      ->add_option("--job", options->job_file,
                   "TOML file of options by their long names, documents = 50; options on the line count more")
      ->type_name("FILE")
      ->configurable(false);
  add_job_options(*command, options->job);
  add_examples(
      *command,
      {{"run --model minilm --text text.txt --documents 100 --length 512 --out result",
        "every analysis of every head, over 100 documents of a text; result/report.html shows it all"},
       {"run --model minilm --text text.txt --documents 100 --length 512 --dry-run",
        "what time, memory and disk that would take"},
       {"run --model minilm --text text.txt --documents 100 --length 512 --out result --resume",
        "the first again, after it was interrupted: it goes on behind the last document"},
       {"run --model minilm --random-tokens 50 --only head_types,measured_offset --out induction",
        "which heads copy: random tokens, twice, and two of the analyses"},
       {"run --model vit --images photos --out seen",
        "an image model over the PNG and JPEG files of a folder; offsets are rows and columns of patches, too"},
       {"run --model minilm --text text.txt --documents 20 --intervene re-aim=L0H2:+2 --out re-aimed",
        "the same with part of the model changed"}});
  command->final_callback([=, &chosen] {
    if (!options->job_file.empty()) read_job_file(*command, options->job_file);
    require_usage(source, options->input);
    options->input.intervening.threads = options->job.threads;
    options->job_text = job_text(*command, {"out"});
    if (options->folder.folder.empty() && !options->dry_run) throw CLI::RequiredError("--out");
    chosen = [=] { return run(*command, *options, source); };
  });
}

}  // namespace headwave::cli
