#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <memory>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../../data/files/toml_text.h"
#include "../../data/hdf5/hdf5_file.h"
#include "../../data/results/result_file.h"
#include "../../job/inputs/identity.h"
#include "../../job/inputs/job_input.h"
#include "../../job/studies/checkpoint_sweep.h"
#include "../../reports/drawing/visible_text.h"
#include "../../reports/tables/checkpoint_table.h"
#include "../options/help.h"
#include "../options/job_file.h"
#include "../options/job_options.h"
#include "../ranks/ranks.h"
#include "../results/output_folder.h"
#include "../results/result_path.h"
#include "../results/resuming.h"
#include "../results/whole_run.h"
#include "../terminal/progress.h"
#include "../terminal/terminal.h"
#include "commands.h"

namespace headwave::cli {

namespace {

namespace fs = std::filesystem;

struct SweepOptions : WholeRunOptions {
  std::vector<fs::path> models;
  bool resume = false;
  std::string shard;  ///< "3/16"; empty: all checkpoints
  fs::path job_file;
  std::string job_text;  ///< the options of every checkpoint's run but --model
};

struct Checkpoint : TrainingCheckpoint {
  fs::path folder;  ///< of its own result
};

/// In the order of training.
/// @throws CLI::ValidationError if two have one name
std::vector<Checkpoint> checkpoints_of(const SweepOptions& options) {
  try {
    std::vector<Checkpoint> checkpoints;
    for (const TrainingCheckpoint& one : training_checkpoints(options.models))
      checkpoints.push_back({one, options.folder.folder / "checkpoints" / one.name});
    return checkpoints;
  } catch (const ShapeError& problem) {
    throw CLI::ValidationError("--models", std::string(problem.finding()));
  }
}

std::vector<fs::path> files_read(const SweepOptions& options) {
  std::vector<fs::path> files = read_files(options.input);
  std::ranges::transform(options.models, std::back_inserter(files), folder_of_model);
  if (!options.job_file.empty()) files.push_back(options.job_file);
  return files;
}

/// The folder of a checkpoint's own result, and what is written into it.
FolderOptions own_folder(const SweepOptions& options, const Checkpoint& checkpoint) {
  FolderOptions folder = options.folder;
  folder.folder = checkpoint.folder;
  folder.figures = false;
  return folder;
}

/// Refuses at once what would be found out only when the checkpoints before are through.
/// @param read  what no file may take the place of
void require_runnable(const SweepOptions& options, const std::vector<fs::path>& read,
                      const std::vector<Checkpoint>& checkpoints, std::size_t first, std::size_t every) {
  std::vector<std::pair<std::string, ModelPlace>> models;
  for (const Checkpoint& checkpoint : checkpoints)
    models.emplace_back(checkpoint.name, ModelPlace(checkpoint.model, options.input.map));
  require_one_model(models);
  for (const Checkpoint& checkpoint : checkpoints) {
    const FolderOptions own = own_folder(options, checkpoint);
    require_unread(own.folder, output_files(own, read));
  }
  if (options.resume || options.folder.force) return;
  for (std::size_t i = first; i < checkpoints.size(); i += every)
    if (const auto files = result_files(checkpoints[i].folder); !files.empty())
      throw IoError(fmt::format("{}: is there already; go on with that sweep with --resume, or begin anew with --force",
                                files.begin()->second.string()));
}

/// The options of one checkpoint's run, with its result in a folder of its own.
SweepOptions options_of(const SweepOptions& options, const Checkpoint& checkpoint) {
  SweepOptions one = options;
  one.input.model = checkpoint.model;
  one.folder = own_folder(options, checkpoint);
  return one;
}

/// The run of one checkpoint.
/// @param one   as of options_of()
/// @param read  what no file may take the place of
void run_checkpoint(SweepOptions one, const SourceOptions& given, const std::vector<fs::path>& read) {
  const auto start = std::chrono::steady_clock::now();
  OutputFolder folder = opened_folder(one.folder, read);
  Attributes identity;
  std::vector<KindResult> results;
  within_memory(one, given, [&](const JobInput& input) {
    identity = run_identity(input, one.job);
    results = run_input(input, one.job, progress());
  });
  const std::string job = one.job_text + "\n" + toml_text({{"model", remembered_path(one.input.model)}});
  sign_results(results, identity, job);
  write_results({{folder, results}}, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  folder.remove_outdated({});
}

/// Those that are this process' and not there yet, one after the other.
/// @param first, every  the first, and from one to the next
/// @throws FormatError before any is run, if one that is there is of other options
void run_checkpoints(const SweepOptions& options, const SourceOptions& given,
                     const std::vector<Checkpoint>& checkpoints, std::size_t first, std::size_t every, Ranks& ranks) {
  const std::vector<fs::path> read = files_read(options);
  require_runnable(options, read, checkpoints, first, every);
  std::vector<Written> before(checkpoints.size(), Written::nothing);
  for (std::size_t i = first; options.resume && i < checkpoints.size(); i += every)
    before[i] = written_before(options_of(options, checkpoints[i]), given);
  for (std::size_t i = first; i < checkpoints.size(); i += every) {
    say(fmt::format("{} ({} of {})", visible_text(checkpoints[i].name), i + 1, checkpoints.size()));
    if (before[i] != Written::all) {
      SweepOptions one = options_of(options, checkpoints[i]);
      one.job.threads = ranks.threads(options.job.threads);
      one.folder.resumed = before[i] == Written::part;  // it ended while it wrote its kinds of attention
      run_checkpoint(std::move(one), given, read);
    }
    if (ranks.leads()) ranks.hear(false);
  }
}

/// Whether the folder's own result is of an earlier sweep: it may be made again from those of its
/// checkpoints.
/// @throws IoError if it has a checkpoint that is not named now: a smaller one would take its place
bool holds_sweep(const fs::path& folder, const std::vector<Checkpoint>& checkpoints) {
  const auto files = result_files(folder);
  if (files.empty()) return false;
  constexpr const char* steps = "checkpoints/step";
  // Whatever became of it, it is made again.
  const Result there = read_result(Hdf5File(files.begin()->second), {steps});
  if (there.find(steps) == nullptr) return false;
  const Axis& names = there.at(steps).axis("checkpoint");
  for (const std::string& name : std::get<std::vector<std::string>>(names.values))
    if (std::ranges::count(checkpoints, name, &Checkpoint::name) == 0)
      throw IoError(fmt::format(
          "{}: has {} checkpoints, and {} is not one of those given; name all of them, give --force in place of "
          "--resume, or choose another --out",
          files.begin()->second.string(), names.size(), name));
  return true;
}

/// What all checkpoints came to, each kind of attention by itself.
/// @throws IoError if one has no result
std::vector<KindResult> swept(const std::vector<Checkpoint>& checkpoints) {
  std::vector<std::string> names;
  for (const Checkpoint& checkpoint : checkpoints) names.push_back(checkpoint.name);
  std::vector<KindResult> results;
  for (const auto& [kind, file] : result_files(checkpoints.front().folder)) {
    CheckpointSweep sweep(names);
    for (const Checkpoint& checkpoint : checkpoints) {
      progress_at("putting together " + visible_text(checkpoint.name));
      sweep.add(read_result(checkpoint.folder / file.lexically_relative(checkpoints.front().folder)));
    }
    results.push_back({kind, sweep.taken()});
  }
  return results;
}

int sweep(const CLI::App& command, SweepOptions& options, const SourceOptions& given) {
  const std::vector<Checkpoint> checkpoints = checkpoints_of(options);
  Ranks ranks;
  if (ranks.count() > 1 && !options.shard.empty())
    throw CLI::ValidationError("--shard", "divides a sweep by hand; mpirun has divided this one");
  const auto parts = static_cast<std::size_t>(ranks.count()), part = static_cast<std::size_t>(ranks.number());
  if (!ranks.leads()) {
    ranks.attempt([&] {
      run_checkpoints(options, given, checkpoints, part, parts, ranks);
      ranks.finished();
    });
    return done;
  }
  if (!options.shard.empty()) {
    const Shard shard = shard_of(options.shard);
    run_checkpoints(options, given, checkpoints, static_cast<std::size_t>(shard.part - 1),
                    static_cast<std::size_t>(shard.parts), ranks);
    end_progress();
    say(fmt::format("{}: part {} of {} is done; when all are, leave --shard away and give --resume",
                    visible_text(options.folder.folder.string()), shard.part, shard.parts));
    return done;
  }
  FolderOptions whole = options.folder;
  whole.resumed = options.resume && holds_sweep(whole.folder, checkpoints);
  OutputFolder folder = opened_folder(whole, files_read(options));
  run_checkpoints(options, given, checkpoints, part, parts, ranks);
  ranks.hear(true);
  std::vector<KindResult> results = swept(checkpoints);
  for (KindResult& found : results) found.result.provenance["job"] = job_text(command, {"out"});
  write_results({{folder, results}});
  show_run(folder, results, options, [](const Result& result) { return terminal_table(checkpoint_columns(result)); });
  return done;
}

}  // namespace

void add_sweep(CLI::App& program, Command& chosen) {
  auto options = std::make_shared<SweepOptions>();
  CLI::App* command = program.add_subcommand(
      "sweep", "follow every head over the checkpoints of a training run: when it begins to look where it looks");
  CLI::Option* models =
      command
          ->add_option("--models", options->models,
                       "model directories, one for each checkpoint, in the order of the numbers that end their names")
          ->type_name("DIRS");
  SourceOptions source = add_whole_run_options(
      *command, *options,
      {.states = "checkpoints make states of their own", .interventions = {}, .shuffles = {}, .model = "see --models"},
      {false, false, false});
  source.model = models;
  command
      ->add_flag("--resume", options->resume,
                 "resume an earlier `headwave sweep` that was interrupted or divided; finished checkpoints stay")
      ->excludes("--force")
      ->configurable(false);
  add_shard_option(*command, options->shard,
                   "every so many-th checkpoint, beginning with the third, say, for a sweep that is divided over "
                   "machines; their folder is one and the same");
  add_job_file_option(*command, options->job_file);
  add_examples(
      *command,
      {{"sweep --models run/step-* --text text.txt --documents 20 --length 128 --out training",
        "of every checkpoint the account of its heads, what they do, and where they would look by weights"},
       {"sweep --models run/step-* --text text.txt --documents 20 --length 128 --out training --resume",
        "the same after it was interrupted: checkpoints that are done stay"},
       {"sweep --models run/step-* --random-tokens 50 --only head_types --out induction", "when heads begin to copy"}});
  command->final_callback([=, &chosen] {
    if (!options->job_file.empty()) read_job_file(*command, options->job_file);
    if (options->models.empty()) throw CLI::RequiredError("--models");
    read_job_text(*command,
                  toml_text({{"only", std::vector<std::string>(swept_analyses.begin(), swept_analyses.end())}}),
                  "headwave sweep");
    require_usage(source, options->input);
    require_read_options(*command, options->job);
    options->input.intervening.threads = options->job.threads;
    if (options->folder.folder.empty()) throw CLI::RequiredError("--out");
    options->job_text = job_text(*command, {"out", "models"});
    chosen = [=] { return sweep(*command, *options, source); };
  });
}

}  // namespace headwave::cli
