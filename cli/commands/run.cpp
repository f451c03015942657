#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "../../core/fields/head_name.h"
#include "../../core/numbers/error.h"
#include "../../data/hdf5/hdf5_file.h"
#include "../../data/results/result_file.h"
#include "../../job/run/job_estimate.h"
#include "../../job/run/progress_text.h"
#include "../../job/run/result_size.h"
#include "../../job/run/unfinished_run.h"
#include "../options/help.h"
#include "../options/job_file.h"
#include "../options/job_options.h"
#include "../options/run_input.h"
#include "../options/values.h"
#include "../results/provenance.h"
#include "../results/result_folder.h"
#include "../terminal/last_words.h"
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
  bool dry_run = false;    ///< only say what the job would take
  bool resume = false;     ///< go on where an earlier run of the same job ended
  double keep_every = 30;  ///< seconds
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

/// Seconds that drawing takes, most of it in gnuplot: about so many for a file of a figure.
double figure_seconds(const JobEstimate& job, const FolderOptions& folder) {
  constexpr double seconds_a_file = 0.045;
  if (!folder.figures) return 0;
  return seconds_a_file * static_cast<double>(drawable_kinds(job.fields).size() * folder.drawing.formats.size());
}

/// Of short times a second is a large part.
std::string about_text(double seconds) {
  return seconds < 10 ? fmt::format("{:.1f} s", seconds) : duration_text(seconds);
}

/// What the job would take, and nothing else.
int dry_run(RunOptions& options, const SourceOptions& given) {
  const auto start = std::chrono::steady_clock::now();
  const JobInput input = input_of(options.input, given, options.job.seed);
  const double reading = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  require_heads(options.folder.drawing, input.model);
  require_maps(options.job, *input.source);
  progress_at("a trial of the first documents");
  const JobEstimate job = estimate_job(input.model, *input.source, options.job);
  const std::string lengths =
      job.shortest == job.longest ? fmt::format("{}", job.longest) : fmt::format("{} to {}", job.shortest, job.longest);
  end_progress();
  fmt::print("{} documents x {} tokens x {} layers x {} heads\n", job.documents, lengths, job.layers, job.heads);
  const double figures = figure_seconds(job, options.folder);
  fmt::print("time    about {}, from the {} documents that were run to find out{}\n",
             about_text(reading + job.seconds + figures), job.probed,
             figures > 0 ? fmt::format("; {} of it for figures", about_text(figures)) : "");
  fmt::print("memory  about {}, the model's weights with it\n",
             size_text(static_cast<std::uintmax_t>(job.memory_bytes)));
  fmt::print("disk    about {} for results.h5{}\n", size_text(static_cast<std::uintmax_t>(job.result_bytes)),
             options.folder.figures ? "; figures take about 10 MB more" : "");
  return done;
}

/// The file in which a run keeps what its documents came to, if it may be there.
fs::path kept_file(const OutputFolder& folder, const RunOptions& options) {
  fs::path file = folder.path() / "results.unfinished";
  if (options.resume || !fs::exists(fs::symlink_status(file))) return file;
  if (!options.folder.force)
    throw IoError(
        fmt::format("{}: is what an unfinished run came to; go on with it with --resume, or begin anew with --force",
                    file.string()));
  fs::remove(file);
  return file;
}

/// All that what documents give depends on.
Attributes identity_of(const JobInput& input, const JobOptions& options) {
  Attributes identity = input.source->provenance();
  identity.insert(input.provenance.begin(), input.provenance.end());
  for (const char* place : {"model", "source_file"}) identity.erase(place);  // what they are, their digests say
  add_options(identity, options, 1);
  identity.erase("threads");
  add_build(identity);
  return identity;
}

/// Whether the folder holds what this job would write already, so that there is nothing to go on with.
bool is_finished(RunOptions& options, const SourceOptions& given) {
  fs::path file = options.folder.folder / "results.h5";
  if (!fs::exists(file)) file = options.folder.folder / name_of(AttentionKind::self) / "results.h5";
  if (!options.resume || options.folder.force || !fs::exists(file)) return false;
  const JobInput input = input_of(options.input, given, options.job.seed);
  return std::ranges::includes(read_result(Hdf5File(file), {}).provenance, identity_of(input, options.job));
}

/// The job, going on where an earlier run ended. What it came to stays in the file until somebody removes it.
std::vector<KindResult> run_kept(const JobInput& input, const JobOptions& options, UnfinishedRun& kept) {
  try {
    const LastWords words("ended before it was done; go on with --resume");
    return run_job_by_kind(input.model, *input.source, options, progress(), &kept);
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
    say(fmt::format("{}: the job is finished; there is nothing to go on with", options.folder.folder.string()));
    return done;
  }
  OutputFolder folder = opened_folder(options.folder);
  const fs::path file = kept_file(folder, options);
  const JobInput input = input_of(options.input, given, options.job.seed);
  require_heads(options.folder.drawing, input.model);
  require_maps(options.job, *input.source);
  folder.require_space(result_bytes(input.model, *input.source, options.job));
  UnfinishedRun kept(file, identity_of(input, options.job), options.keep_every);
  std::vector<KindResult> results = run_kept(input, options.job, kept);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  for (KindResult& found : results) {
    found.result.provenance.insert(input.provenance.begin(), input.provenance.end());
    found.result.provenance["job"] = options.job_text;
    if (kept.documents() > 0)
      found.result.provenance["resumed_after_documents"] = static_cast<std::int64_t>(kept.documents());
    say_fewer_map_tokens(command, found.result, options.folder.drawing);
  }
  write_results(folder, results, seconds);
  kept.remove();
  show_results(folder, results, options.folder);
  return done;
}

}  // namespace

void add_run(CLI::App& program, Command& chosen) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* command =
      program.add_subcommand("run", "follow every head of a model over text, token ids or stored states");
  const SourceOptions source = add_input_options(*command, options->input);
  add_folder_options(*command, options->folder, false);
  command
      ->add_flag("--dry-run", options->dry_run,
                 "say what time, memory and disk the job would take, from a short trial; write nothing")
      ->configurable(false);
  command
      ->add_flag("--resume", options->resume,
                 "go on where a run of the same job into the same folder was ended; begin if there was none")
      ->configurable(false);
  command
      ->add_option("--keep-every", options->keep_every,
                   "seconds of documents after which a run keeps what it came to, for --resume; 0: after each")
      ->check(real_number(0, 1e6))
      ->capture_default_str()
      ->type_name("S")
      ->configurable(false);
  command->get_option("--force")->configurable(false);
  command
      ->add_option("--job", options->job_file,
                   "TOML file of options by their long names, documents = 50; options on the line count more")
      ->type_name("FILE")
      ->configurable(false);
  add_job_options(*command, options->job);
  add_examples(*command,
               {{"run --model minilm --text text.txt --documents 100 --length 512 --out result",
                 "every analysis of every head, over 100 documents of a text; result/report.html shows it all"},
                {"run --model minilm --text text.txt --documents 100 --length 512 --dry-run",
                 "what time, memory and disk that would take"},
                {"run --model minilm --text text.txt --documents 100 --length 512 --out result --resume",
                 "the first again, after it was interrupted: it goes on behind the last document"},
                {"run --model minilm --random-tokens 50 --only head_types,measured_offset --out induction",
                 "which heads copy: random tokens, twice, and two of the analyses"},
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
