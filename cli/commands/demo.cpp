#include <algorithm>
#include <filesystem>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "../../analysis/attention/head_cluster.h"
#include "../../core/planted/planted.h"
#include "../../data/hdf5/hdf5_file.h"
#include "../../data/models/planted_directory.h"
#include "../../job/run/job.h"
#include "../../reports/drawing/visible_text.h"
#include "../../reports/tables/head_findings.h"
#include "../options/help.h"
#include "../options/job_options.h"
#include "../options/option_row.h"
#include "../options/values.h"
#include "../results/output_folder.h"
#include "../results/result_folder.h"
#include "../terminal/progress.h"
#include "../terminal/terminal.h"
#include "commands.h"

namespace headwave::cli {

namespace {

struct DemoOptions {
  Index documents = 20;
  std::filesystem::path model;  ///< folder for the model, which is then only written
  JobOptions job;
  FolderOptions folder;
};

bool is_demo_result(const std::filesystem::path& folder) {
  try {
    const Attributes provenance = Hdf5File(folder / "results.h5").attributes("/provenance");
    const auto source = provenance.find("source");
    return source != provenance.end() && source->second == Attribute(std::string("planted words"));
  } catch (const Error&) {
    return false;
  }
}

/// A demo may be repeated, but may replace only the files of a demo.
void require_own(const FolderOptions& options) {
  std::error_code ignored;
  if (options.force || !std::filesystem::exists(options.folder, ignored) ||
      std::filesystem::is_empty(options.folder, ignored) || is_demo_result(options.folder))
    return;
  throw IoError(
      fmt::format("{}: holds something other than an earlier demo; choose another --out, or replace it with "
                  "--force",
                  options.folder.string()));
}

int verdict(const Result& result) {
  const HeadValues values = head_values(result);
  std::size_t missed = 0;
  for (std::size_t head = 0; head < values.heads.size(); ++head)
    missed += values.word(head, "planted_found") == "false" ? 1 : 0;
  if (missed == 0) return done;
  say(fmt::format("{} of {} heads differ from what was planted", missed, values.heads.size()));
  return different;
}

int write_model(const DemoOptions& options) {
  const OutputFolder folder(
      options.model,
      {{"model.safetensors", "config.json", "vocab.txt", "tokenizer_config.json", "ids.json", "truth.json"}},
      options.folder.force);
  const PlantedModel planted = planted_model(planted_bank(options.job.seed));
  const auto documents = planted_documents(planted, options.documents, planted.spec.length, options.job.seed);
  write_planted_directory(planted, *documents, folder.path());
  say(
      fmt::format("wrote a BERT of {} layers x {} heads with known truth to {}; try\n  headwave run --model {} --ids "
                  "{} --out RESULT",
                  planted.model.stack.layers(), planted.model.stack.block.heads, visible_text(options.model.string()),
                  visible_text(shell_word(options.model.string())),
                  visible_text(shell_word((options.model / "ids.json").string()))));
  return done;
}

int demo(DemoOptions& options) {
  if (!options.model.empty()) return write_model(options);
  require_own(options.folder);
  options.folder.force = true;
  const OutputFolder folder = opened_folder(options.folder, {});
  const PlantedModel planted = planted_model(planted_bank(options.job.seed));
  const auto documents = planted_documents(planted, options.documents, planted.spec.length, options.job.seed);
  require_maps(options.job, *documents);
  std::vector<KindResult> results = run_job_by_kind(planted.model, *documents, options.job, progress());
  Result& result = results.front().result;
  append(result.fields, describe(planted));
  result.title = "headwave demo: a planted model with known truth";
  write_results(folder, results);
  show_results(folder, results, options.folder);
  return verdict(result);
}

}  // namespace

void add_demo(CLI::App& program, Command& chosen) {
  auto options = std::make_shared<DemoOptions>();
  options->folder.folder = "headwave-demo";
  // Six positional kinds and a flat kind are planted, so seven can be told apart.
  options->job[clusters_option] = 7;
  CLI::App* command =
      program.add_subcommand("demo", "test headwave on a model with planted heads; exits with 3 if one is not found");
  const OptionRows row(*command);
  row("--documents", options->documents, nullptr, "number of documents of 512 random words", whole_number(1, 100000))
      ->capture_default_str();
  add_folder_options(*command, options->folder, false);
  add_drawing_options(*command, options->folder.drawing);
  row("--write-model", options->model, "DIR",
      "only write the planted model, its documents and its truth, as a Hugging Face directory")
      ->excludes("--out");
  add_table_options(*command, options->folder.table);
  add_job_options(*command, options->job);
  add_examples(*command, {{"demo", "plant heads, find them, and draw them into headwave-demo/"},
                          {"demo --documents 5 --no-figures --out quick", "the same quickly, without figures"},
                          {"demo --write-model planted", "a model directory with known truth"}});
  command->final_callback([=, &chosen] {
    require_read_options(*command, options->job);
    chosen = [=] { return demo(*options); };
  });
}

}  // namespace headwave::cli
