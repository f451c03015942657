#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>

#include "headwave/cli/commands.h"
#include "headwave/cli/job_options.h"
#include "headwave/cli/result_folder.h"
#include "headwave/cli/terminal.h"
#include "headwave/core/planted_bank.h"
#include "headwave/job/job.h"

namespace headwave::cli {

namespace {

struct DemoOptions {
  Index documents = 20;
  JobOptions job;
  FolderOptions folder;
};

int demo(DemoOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  require_free(options.folder);
  options.job.map_tokens = std::max(options.job.map_tokens, options.folder.drawing.tokens);
  const PlantedModel planted = planted_model(planted_bank(options.job.seed));
  const auto documents = planted_documents(planted, options.documents, planted.spec.length, options.job.seed);
  Result result = run_job(planted.model, *documents, options.job, progress_line());
  for (Field& field : describe(planted)) result.fields.push_back(std::move(field));
  result.title = "headwave demo: a planted model with known truth";
  write_folder(result, options.folder, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  return 0;
}

}  // namespace

void add_demo(CLI::App& program, Command& chosen) {
  auto options = std::make_shared<DemoOptions>();
  options->folder.folder = "headwave-demo";
  // Six positional kinds and one flat kind were planted: seven can be told apart.
  options->job.clusters = 7;
  CLI::App* command = program.add_subcommand("demo", "plant a model whose truth is known, and find it again");
  command->add_option("--documents", options->documents, "how many documents of 512 random words")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  add_folder_options(*command, options->folder, false);
  options->folder.force = true;
  add_job_options(*command, options->job);
  command->final_callback([=, &chosen] { chosen = [=] { return demo(*options); }; });
}

}  // namespace headwave::cli
