#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../../job/inputs/identity.h"
#include "../../job/inputs/job_input.h"
#include "../../job/inputs/run_input.h"
#include "../../job/inputs/stored_sums.h"
#include "../../job/run/document_pass.h"
#include "../../job/run/resume_file.h"
#include "../../job/run/shard_files.h"
#include "../../reports/drawing/visible_text.h"
#include "../options/help.h"
#include "../options/job_file.h"
#include "../options/job_options.h"
#include "../options/option_row.h"
#include "../options/values.h"
#include "../results/output_folder.h"
#include "../results/result_json.h"
#include "../results/result_path.h"
#include "../results/whole_run.h"
#include "../terminal/progress.h"
#include "../terminal/terminal.h"
#include "commands.h"

namespace headwave::cli {

namespace {

namespace fs = std::filesystem;

/// One part of a run that is divided by hand, counted from 1: "3/16".
struct Shard {
  Index part = 1, parts = 1;
};

std::optional<Shard> shard_of(const std::string& text) {
  Shard shard;
  char more = 0;
  const bool whole = std::sscanf(text.c_str(), "%td/%td%c", &shard.part, &shard.parts, &more) == 2;
  return whole && shard.part >= 1 && shard.part <= shard.parts ? std::optional(shard) : std::nullopt;
}

struct RunOptions : WholeRunOptions {
  bool resume = false;
  double keep_every = 30;  ///< seconds
  std::string shard;       ///< "3/16"; empty: the whole run
  fs::path job_file;
  std::string job_text;  ///< the options as a job file, for provenance
};

std::vector<fs::path> files_read(const RunOptions& options) {
  std::vector<fs::path> files = read_files(options.input);
  if (!options.job_file.empty()) files.push_back(options.job_file);
  return files;
}

/// The file from which a run is resumed; --force removes an existing one.
/// @throws IoError if it exists, and neither --resume nor --force is given
fs::path resume_file(const RunOptions& options) {
  fs::path file = options.folder.folder / unfinished_name;
  if (options.resume || !fs::exists(fs::symlink_status(file))) return file;
  if (!options.folder.force)
    throw IoError(
        fmt::format("{}: is an unfinished run; continue it with --resume, or begin anew with --force", file.string()));
  fs::remove(file);
  return file;
}

/// Runs the job, or resumes an earlier run. The sums so far stay in the file until it is removed.
std::vector<KindResult> run_kept(const JobInput& input, const JobOptions& options, ResumeFile& kept) {
  try {
    return run_input(input, options, progress(),
                     [&](DocumentPass& pass, StageReport& report) { pass.run(report, &kept); });
  } catch (const IoError&) {
    throw;
  } catch (const Error&) {
    kept.remove();  // another run would fail in the same way
    throw;
  }
}

/// Runs one part of the job, into files that `headwave merge` joins.
int run_shard(RunOptions& options) {
  const Shard shard = *shard_of(options.shard);
  // The lock is the part's own: parts may be computed side by side in one folder.
  const OutputFolder folder(options.folder.folder,
                            {.written = {"results.h5"},
                             .lock = fmt::format(".part-{}-of-{}.lock", shard.part, shard.parts),
                             .read = files_read(options)},
                            options.folder.force);
  std::string documents;
  within_memory(options, [&](const JobInput& input) {
    const DocumentBlocks blocks(input.source->count());
    const BlockRange range = part_of(blocks, shard.part, shard.parts);
    const ShardFolder part(folder.path(), blocks, range, run_identity(input, options.job), options.job_text);
    documents =
        fmt::format("{} to {} of {}", blocks.first(range.first), blocks.first(range.end) - 1, input.source->count());
    const std::vector<Index> missing = part.missing();
    if (missing.empty()) return;
    run_part_of_job(input.model, *input.source, options.job, progress(),
                    [&](DocumentPass& pass, StageReport& report) { part.gather(missing, pass, report); });
  });
  end_progress();
  say(fmt::format("{}: documents {}, part {} of {}; `headwave merge` joins the parts",
                  visible_text(folder.path().string()), documents, shard.part, shard.parts));
  return done;
}

int run(RunOptions& options) {
  if (!options.shard.empty()) {
    if (!options.input.profiles.empty())
      throw CLI::ValidationError("--shard",
                                 "does not apply to --profiles, which hold sums over documents that have already run");
    return run_shard(options);
  }
  if (options.resume && !options.folder.force && finished_before(options)) {
    show_finished(options);
    fs::remove(options.folder.folder / unfinished_name);
    return done;
  }
  const OutputFolder folder = opened_folder(options.folder, files_read(options));
  const fs::path file = resume_file(options);
  Attributes identity;
  std::optional<ResumeFile> kept;
  std::vector<KindResult> results;
  within_memory(options, [&](const JobInput& input) {
    identity = run_identity(input, options.job);
    const bool again = kept.has_value();  // begun again with less memory
    kept.emplace(file, identity, options.keep_every);
    if (options.resume && !again)
      say(kept->documents() == 0
              ? std::string("no earlier run is saved here: beginning with the first document")
              : fmt::format("resuming after document {} of {}", kept->documents(), input.source->count()));
    results = run_kept(input, options.job, *kept);
  });
  for (KindResult& found : results)
    if (kept->documents() > 0)
      found.result.provenance["resumed_after_documents"] = static_cast<std::int64_t>(kept->documents());
  write_run(folder, results, options, identity, options.job_text);
  kept->remove();
  show_run(folder, results, options);
  return done;
}

}  // namespace

void add_run(CLI::App& program, Command& chosen) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* command =
      program.add_subcommand("run", "analyse every head of a model over text, token ids, stored states or profiles");
  add_whole_run_options(*command, *options);
  const auto wrong_shard = [](const std::string& text) {
    return shard_of(text) ? ""
                          : fmt::format("expected PART/PARTS with PART from 1 to PARTS, such as 3/16, got '{}'", text);
  };
  const OptionRows row(*command);
  for (CLI::Option* option :
       {row("--resume", options->resume, nullptr,
            "resume an interrupted run with the same options and --out; begin if there is none"),
        row("--keep-every", options->keep_every, "S",
            "seconds between saves for --resume; 0: save after every document", real_number(0, 1e6))
            ->capture_default_str(),
        row("--shard", options->shard, "PART/PARTS",
            "run one part of the documents, such as 3/16; `headwave merge` joins the parts",
            CLI::Validator(wrong_shard, "", "part"))
            ->excludes("--json")})
    option->configurable(false);
  add_job_file_option(*command, options->job_file);
  add_examples(
      *command,
      {{"run --model minilm --text text.txt --documents 20 --length 256 --out result",
        "where every head looks, how strongly and why; result/report.html shows it"},
       {"run --model minilm --text text.txt --documents 20 --length 256 --out result --resume",
        "continue the first example after an interruption"},
       {"run --model minilm --text text.txt --shard 3/16 --out part-03", "one part of sixteen; see `headwave merge`"},
       {"run --model minilm --random-tokens 50 --only head_types,measured_offset --out induction",
        "which heads copy: induction heads look 49 back"},
       {"run --model minilm --text text.txt --intervene without-heads=L0H2 --out without", "without one head"},
       {"run --profiles profiles.h5 --out watched", "where the heads of a watched PyTorch model look"}});
  command->final_callback([=, &chosen] {
    if (!options->job_file.empty()) read_job_file(*command, options->job_file);
    require_usage(*command, options->input);
    if (!options->input.profiles.empty()) require_options_of_sums(options->job);
    require_read_options(*command, options->job);
    options->job.heads = options->folder.drawing.heads;
    options->job_text = job_text(*command, {"out"});
    if (options->folder.folder.empty()) throw CLI::RequiredError("--out");
    chosen = [=] { return run(*options); };
  });
}

}  // namespace headwave::cli
